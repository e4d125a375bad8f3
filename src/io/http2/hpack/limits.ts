import { answerHeaderBytes } from "../../../core/index.js";
import { DEFAULT_SIZE } from "./tables.js";

/** Bytes of one header list that a server may send, packed and unpacked. */
export const HEADER_BYTES: number = answerHeaderBytes.http2;
/** Bytes of the table that a server may fill. */
export const TABLE_BYTES: number = DEFAULT_SIZE;
