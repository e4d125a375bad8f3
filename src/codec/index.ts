/**
 * JSON-RPC messages and their framing. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { noParams } from "../core/index.js";
export { blobLines } from "./blob-lines.js";
export { blobPieces } from "./blob-text.js";
export { holdsMore, MOST_VALUES, tooManyValues } from "./depth.js";
export { isBatch, isId, namedCall } from "./guards.js";
export { decodeHeader, encodeHeader, headerSays } from "./header-value.js";
export type {
  AnswerPart,
  Id,
  Incoming,
  IncomingBad,
  IncomingBatch,
  IncomingError,
  IncomingNotification,
  IncomingPart,
  IncomingRequest,
  IncomingResult,
  IncomingSingle,
  LinkMessage,
  Outgoing,
  OutgoingError,
  OutgoingMessage,
  OutgoingNotification,
  OutgoingRequest,
  OutgoingResult,
} from "./jsonrpc.js";
export { type BadLine, type Line, type LineFramer, type LineFramerOptions, type LongLine, type LongLines, lineFramer } from "./lines.js";
export { type AnsweredCall, hasRoom, type Link, type LinkTraits, type SendOptions, sharedStream } from "./link.js";
export { parseJson } from "./numbers.js";
export { type ParseLimits, parseLine, parseMessage } from "./parse.js";
export { type BadPart, type PartMessageOptions, partMessage, readPart } from "./part-message.js";
export { emptyFrame, messageFrame, type PartsReader, type PartsReaderOptions, partFrame, partsReader } from "./parts.js";
export { type Scanner, type ScannerOptions, scanner, WHOLE_BYTES } from "./scanner.js";
export { receivedMessage, reserialise, sentMessage, serialise } from "./serialise.js";
export { type SseEvent, type SseParser, sseParser, writeSse } from "./sse.js";
