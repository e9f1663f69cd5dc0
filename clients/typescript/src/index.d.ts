import type { components, operations } from "./api.js";

/** The values that the service takes and gives, by name. */
export type Schemas = components["schemas"];
export type Change = Schemas["ChangePage"]["changes"][number];
/** RFC 9457. `type` says which; `remedy` what to do. */
export type Problem = Schemas["Problem"];

type Operations = operations;
type Parameters<Name extends keyof Operations> = Operations[Name]["parameters"];
type Part<Holder, Key extends string> = Holder extends { [K in Key]: infer Value }
  ? { [K in Key]: Value }
  : Holder extends { [K in Key]?: infer Value }
    ? [Exclude<Value, undefined>] extends [never]
      ? unknown
      : { [K in Key]?: Value }
    : unknown;
type Body<Operation> = Operation extends { requestBody: { content: { "application/json": infer Value } } }
  ? { body: Value }
  : Operation extends { requestBody?: { content: { "application/json": infer Value } } }
    ? { body?: Value }
    : unknown;

/** What a method takes: the values of its path, its query, its headers, and its body. */
export type Input<Name extends keyof Operations> = Part<Parameters<Name>, "path"> &
  Part<Parameters<Name>, "query"> &
  Part<Parameters<Name>, "header"> &
  Body<Operations[Name]>;

type Content<Answer> = Answer extends { content: { "application/json": infer Value } }
  ? Value
  : Answer extends { content: { "text/plain": string } }
    ? string
    : Response;
type Good<Responses> = { [Status in keyof Responses & (200 | 201 | 202)]: Content<Responses[Status]> };
/** What a method gives: JSON as a value; a file or a stream as the response itself; undefined for 304. */
export type Answer<Name extends keyof Operations> =
  | Good<Operations[Name]["responses"]>[keyof Good<Operations[Name]["responses"]>]
  | (Operations[Name]["responses"] extends { 304: unknown } ? undefined : never);

export interface CallOptions {
  signal?: AbortSignal;
}
type Call<Name extends keyof Operations> = {} extends Input<Name>
  ? (input?: Input<Name>, options?: CallOptions) => Promise<Answer<Name>>
  : (input: Input<Name>, options?: CallOptions) => Promise<Answer<Name>>;
export type Calls = { readonly [Name in keyof Operations]: Call<Name> };
/** The operations that answer a page at a time. */
export type Paged = {
  [Name in keyof Operations]: Parameters<Name> extends { query?: { cursor?: unknown } }
    ? "cursor" extends keyof NonNullable<Parameters<Name>["query"]>
      ? Name
      : never
    : never;
}[keyof Operations];

export interface ClientOptions {
  /** Else `SUBSTRATE_BASE_URL`, else the service on this machine. */
  url?: string;
  /** Else `SUBSTRATE_API_KEY`. */
  key?: string;
  /** In place of the global `fetch`. */
  fetch?: (url: string, request: RequestInit) => Promise<Response>;
  timeoutMs?: number;
  /** The most times that one request is sent. */
  attempts?: number;
}

export type ChangeEvent =
  | { event: "change"; cursor: string; data: Change }
  | { event: "erased"; cursor: string; data: Record<string, never> };

export interface Substrate extends Calls {}
/** The client: a method for each operation of the OpenAPI document, by its `operationId`. */
export class Substrate {
  constructor(options?: ClientOptions);
  /** All pages of a list, one after the other. */
  pages<Name extends Paged>(
    name: Name,
    input: Input<Name>,
    options?: CallOptions,
  ): AsyncGenerator<Exclude<Answer<Name>, undefined>, void, undefined>;
  /** What changes in a graph, as it happens, until `signal` ends it; a lost connection is mended, nothing is missed. */
  watch(
    query: NonNullable<Parameters<"stream_changes">["query"]>,
    options?: CallOptions,
  ): AsyncGenerator<ChangeEvent, void, undefined>;
}

/** What the service refused. */
export class SubstrateError extends Error {
  constructor(problem: Problem, options?: ErrorOptions);
  readonly problem: Problem;
  readonly status: number;
  readonly type: Problem["type"];
  readonly remedy: string;
  readonly faults: string[];
  /** The same request may succeed later. */
  get isUnavailable(): boolean;
  /** It was turned away before it did anything. */
  get isUnsent(): boolean;
  /** Seconds. */
  get retryAfter(): number | undefined;
}
/** No answer came: refused, lost, or too late. */
export class Unreachable extends SubstrateError {
  constructor(url: string, cause: unknown);
}
