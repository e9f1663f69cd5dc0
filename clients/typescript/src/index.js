export { Substrate } from "./client.js";
export { SubstrateError, Unreachable } from "./errors.js";
