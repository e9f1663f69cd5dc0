// What the service refuses, as an error that carries its problem (RFC 9457).

/** @typedef {import("./index.js").Problem} Problem */

const GATEWAY = [502, 503, 504];
/** Of a request that never left. In a browser nobody can tell, so there it counts as lost on the way. */
const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

export class SubstrateError extends Error {
  /**
   * @param {Problem} problem
   * @param {ErrorOptions} [options]
   */
  constructor(problem, options) {
    super(problem.detail, options);
    this.name = "SubstrateError";
    this.problem = problem;
    this.status = problem.status;
    this.type = problem.type;
    this.remedy = problem.remedy ?? "";
    this.faults = problem.faults ?? [];
  }

  /** The service cannot answer now; the same request may succeed later. */
  get isUnavailable() {
    return GATEWAY.includes(this.status) || this.type === "/problems/storage-full";
  }

  /** The request was turned away before it did anything. */
  get isUnsent() {
    return this.status === 429;
  }

  /** Seconds after which to try again, if the service names them. */
  get retryAfter() {
    return this.problem.retry_after_s ?? undefined;
  }
}

export class Unreachable extends SubstrateError {
  /**
   * @param {string} url
   * @param {unknown} cause
   */
  constructor(url, cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      {
        type: "/problems/unavailable",
        title: "The service does not answer",
        status: 503,
        detail: `${url} does not answer (${reason})`,
        instance: new URL(url).pathname,
        remedy: "Check that the service runs there.",
      },
      { cause },
    );
    this.name = "Unreachable";
  }

  /** @override */
  get isUnsent() {
    const inner = /** @type {{ cause?: { code?: string } } | undefined} */ (this.cause)?.cause;
    return UNSENT.includes(inner?.code ?? "");
  }
}

/**
 * The error of an answer: its problem, or one made of its status where a proxy answered.
 *
 * @param {Response} answer
 * @returns {Promise<SubstrateError>}
 */
export async function readError(answer) {
  /** @type {Partial<Problem>} */
  let sent = {};
  try {
    const parsed = JSON.parse(await answer.text());
    if (typeof parsed === "object" && parsed !== null) sent = parsed;
  } catch {
    // No JSON: the status alone says what there is to say.
  }
  const seconds = Number.parseInt(answer.headers.get("retry-after") ?? "", 10);
  return new SubstrateError({
    type: "/problems/http",
    title: answer.statusText,
    detail: `the service answered ${answer.status}`,
    instance: new URL(answer.url || "http://unknown/").pathname,
    remedy: "",
    faults: [],
    retry_after_s: Number.isNaN(seconds) ? null : seconds,
    ...sent,
    status: answer.status,
  });
}
