/** Titles of memories. A told memory often has only its first words for a name: then its most telling clause is one. */

import { plain } from "./element.js";

const LONGEST = 56;
/** A shorter name with which a text begins is a name all the same: "Luca". */
const SHORTEST = 24;
const EMPTY = new Set(("about after again also because been before being could does doing dont down each even ever from "
  + "good have here hers himself into just know like little make many maybe more most much myself only other over really "
  + "said same should some such than that thats their them then there these they thing things think this those through "
  + "time today very want well were what when where which while will with would yeah your yours").split(" "));

const cut = (text) => (text.length <= LONGEST ? text
  : `${text.slice(0, LONGEST).replace(/\s+\S*$/u, "")}…`);

/** How much a clause tells: its longer words, up to eight of them; long clauses are cut, and so count less. */
function tells(clause) {
  const words = clause.toLowerCase().match(/[\p{L}\p{N}']{4,}/gu) ?? [];
  const telling = words.filter((word) => !EMPTY.has(word.replaceAll("'", ""))).length;
  return Math.min(telling, 8) - Math.max(0, clause.length - LONGEST) / 14;
}

/** The clause of a text that tells most. */
export function gist(text) {
  const clauses = text.split(/(?<=[.!?;:…。！？])\s*|,\s+|\s+[—–]\s+/u).map((clause) => clause.trim()).filter(Boolean);
  const best = clauses.reduce((one, other) => (tells(other) > tells(one) + 0.5 ? other : one), clauses[0] ?? text);
  const bare = best.replace(/^(?:and|but|so|or|well|oh|yes|no|okay|ok|hey|hi|i mean)[,\s]+/iu, "").replace(/[.;:,]+$/u, "");
  return cut(bare.charAt(0).toUpperCase() + bare.slice(1));
}

/** What a memory is called: its name, or the most telling clause where its name is only how its text begins. */
export function title(node) {
  const speaker = node.speaker ? `${node.speaker}: ` : "";
  const name = String(node.name ?? node.node_id ?? "");
  const bare = name.startsWith(speaker) ? name.slice(speaker.length) : name;
  const said = String(node.description ?? "");
  const begun = bare.replace(/(?:…|\.\.\.)$/u, "").trim();
  if (!said.startsWith(begun) || (!speaker && begun.length < SHORTEST)) return name;
  return speaker + gist(said);
}

export const isPerson = (node) => node.node_type === "Person";

/** The first letters of a name: "Felix Aldermoor" is FA. An emoji is a letter, too. */
export function initials(name) {
  const words = String(name ?? "").trim().split(/\s+/u).filter(Boolean);
  const letters = (words.length > 1 ? [words[0], words.at(-1)] : words).map((word) => [...word][0]);
  return letters.join("").toUpperCase() || "?";
}

/** How a link is told from its source, and from its target. */
const VERBS = {
  LEADS_TO: ["leads to", "follows from"], ABOUT: ["is about", "is the subject of"],
  MENTIONS: ["mentions", "is mentioned in"], RESOLVED_BY: ["was resolved by", "resolved"],
  BLOCKED_BY: ["is blocked by", "blocks"], BLOCKS: ["blocks", "is blocked by"], ENABLES: ["enables", "is enabled by"],
  UNBLOCKS: ["frees", "was freed by"], FREES: ["frees", "was freed by"], DEPENDS_ON: ["depends on", "is needed by"],
  CONTRADICTS: ["contradicts", "is contradicted by"], JUSTIFIES: ["justifies", "is justified by"],
  LEARNED_FROM: ["was learned from", "taught"], NEXT: ["was followed by", "followed"], SUPPORTS: ["supports", "is supported by"],
  CAUSES: ["caused", "was caused by"], SUPERSEDES: ["replaced", "was replaced by"], REFINES: ["refines", "is refined by"],
  PART_OF: ["is part of", "has as a part"], WORKS_WITH: ["works with", "works with"], DRIVES: ["drives", "is driven by"],
  CREATES: ["made", "was made by"], SERVES: ["serves", "is served by"], REMINDS_OF: ["recalls", "is recalled by"],
  FEELS_LIKE: ["feels like", "feels like"], WORKS_ON: ["works on", "is the work of"], ANSWERS: ["answers", "is answered by"],
  DELAYS: ["delays", "is delayed by"], CHANGES: ["changes", "is changed by"], HOLDS: ["holds", "is held by"],
};

/** The verb of a link, read from its source (`forward`) or from its target. */
export function verb(kind, forward) {
  const words = plain(kind);
  const [from, to] = VERBS[kind] ?? (words.endsWith(" by") ? [`was ${words}`, words.slice(0, -3)]
    : /ed\b|^wrote$/u.test(words) ? [words, `was ${words} by`] : [words, `is where “${words}” leads from`]);
  return forward ? from : to;
}
