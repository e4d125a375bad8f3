export { Loan } from "./ahead.js";
export {
  Account,
  accountOf,
  type BudgetLimits,
  CALL_BYTES,
  type Held,
  heldBytes,
  LITTLE_BYTES,
  SMALL_BYTES,
  WHOLE_PART,
} from "./budget.js";
export { cachedJson, cachedText, weightOf } from "./cached-json.js";
export { type CallAgain, callAgain, requiresInput } from "./call-again.js";
export { type Cancel, Canceller, fromSignal, neverCancelled, reasonOf } from "./cancel.js";
export { clientCapabilities } from "./client/asks.js";
export type { ResourceChunk } from "./client/chunks.js";
export { clientInfo, createClient } from "./client/client.js";
export { type DialWire, dialClient } from "./client/dial-client.js";
export { type Glob, glob } from "./client/glob.js";
export type { ListenFilter } from "./client/listen.js";
export type {
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListResult,
  ListToolsResult,
  McpClient,
  PageParams,
} from "./client/mcp-client.js";
export type {
  AskContext,
  AskHandler,
  CallOptions,
  ClientOptions,
  ListOptions,
  LogEntry,
  Progress,
} from "./client/options.js";
export type { ReadOptions } from "./client/read-chunks.js";
export type { ServerView } from "./client/server-view.js";
export type { Stream } from "./client/stream.js";
export type { ToolEvent } from "./client/tool-stream.js";
export type { ResourceChange, WatchOptions } from "./client/watch.js";
export { checkNumbers, ExactNumber, jsonText, withNumbers } from "./exact.js";
export { type FanIn, ownedBy, type PresentCallers, sharedByAll } from "./fan-in.js";
export {
  Fault,
  type FaultCode,
  type FaultOptions,
  fromRpcError,
  lateHandshake,
  messageTooLarge,
  type RpcError,
  toFault,
  toRpcError,
} from "./fault.js";
export { grpcStatuses } from "./faults/grpc.js";
export {
  answeredStatus,
  type HttpStatuses,
  httpStatuses,
  type RequestRefusal,
  refusalDetails,
  refusedStatus,
  requestStatuses,
  statusMeaning,
} from "./faults/http.js";
export { jsonRpcCodes, protoMcpCodes, rpcCodes, unsendable } from "./faults/json-rpc.js";
export { type PerRevision, type Revision, revisionOf, revisions } from "./faults/revisions.js";
export { Caller, type CredentialWatch, type Identity, type IdentityOptions, type IdleCaller, quotaOwner } from "./identity.js";
export { envelopeMembers, extended, isObject, type JsonObject, memoryOf, noParams, weigh, withEnvelopeMembers } from "./json.js";
export { type Lease, leasedReplies } from "./leased-replies.js";
export {
  answerHeaderBytes,
  defaultLimits,
  fixedLimits,
  type LimitName,
  type Limits,
  limitsOf,
  optionLimits,
  principalShares,
  rateLimits,
  type SharedLimit,
  schemaLimits,
} from "./limits.js";
export { closable, closingFault, listenerOf } from "./listener.js";
export { lowerCase } from "./lower-case.js";
export {
  type BrokenRule,
  type CallTypedOptions,
  isMessage,
  type MessageSupport,
  type MessageTools,
  noteMessage,
  supportMessages,
  type ToolMessages,
  type TypedHandler,
  type TypedToolOptions,
  takesMessages,
  type Validate,
} from "./message-tools.js";
export { isCredential, outgoingMetadata, traceHeaders, traceNames, withoutCredentials, withTrace } from "./metadata.js";
export {
  askingMethods,
  cacheableMethods,
  isLogLevel,
  type LogLevel,
  legacyMethods,
  levelAt,
  listMembers,
  logLevels,
  meta,
  neededCapability,
  passesLevel,
  requestMethods,
} from "./methods.js";
export {
  type CallEvent,
  type CallOutcome,
  type ChildEvent,
  combineObservers,
  type Frame,
  notifyObserver,
  type Observed,
  type ObservedCall,
  type ObservedEvents,
  type Observer,
  type RefusalEvent,
  refusalOf,
  type SessionEvent,
  type UpstreamChange,
  type UpstreamEvent,
} from "./observe.js";
export { Owned } from "./owned.js";
export { type Cut, cutPage, defaultPageSize, type FetchPage, itemsOfPages, type PageSize, type PagesOptions, type Rest } from "./paging.js";
export { type Park, type ParkOptions, park } from "./park.js";
export { isKeptState, KEPT_STATE, RELEASE } from "./parked.js";
export { type LinearPattern, linearPattern } from "./pattern/linear.js";
export { type Node as PatternNode, parsePattern } from "./pattern/parse.js";
export type {
  Annotations,
  AudioContent,
  CallToolResult,
  CompleteResult,
  CompletionRef,
  ContentBlock,
  DiscoverResult,
  ElicitParams,
  ElicitResult,
  EmbeddedResource,
  GetPromptResult,
  ImageContent,
  Implementation,
  Prompt,
  PromptArgument,
  PromptMessage,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceLink,
  ResourceTemplate,
  Root,
  RootsResult,
  SampleParams,
  SampleResult,
  SamplingMessage,
  TextContent,
  Tool,
  ToolAnnotations,
} from "./protocol.js";
export { redactText } from "./redact.js";
export { type DeadlineReplies, DONE, failing, guard, once, type Produce, resultOf, withDeadline } from "./replies.js";
export { isRpcError } from "./rpc-error.js";
export type { Feature } from "./server/changes.js";
export type { Checked, ValueCheck } from "./server/check.js";
export type { Complete, CompleteAny, Completions } from "./server/completion.js";
export type { CompleteContext, HandlerContext, ReadContext, TemplateContext } from "./server/context.js";
export { jsonSchemaCheck } from "./server/json-schema.js";
export type {
  PromptArgs,
  PromptArgumentOptions,
  PromptArguments,
  PromptCatalogue,
  PromptHandler,
  PromptOptions,
  PromptResult,
} from "./server/prompts.js";
export {
  type Asking,
  type AskOptions,
  ask,
  askAll,
  elicit,
  type Question,
  roots,
  sample,
} from "./server/question.js";
export type { Chunk, Part, ReadResult } from "./server/reading.js";
export type { ResourceCatalogue, ResourceReader, TemplateOptions } from "./server/resources.js";
export type { Awaitable, Handled } from "./server/run.js";
export { createServer } from "./server/server.js";
export type { Source } from "./server/source.js";
export type { InputOf, OutputOf, Schema, SchemaIssue, StandardResult, StandardSchema } from "./server/standard.js";
export {
  type AnyToolHandler,
  INVALID_ARGUMENTS,
  type ToolCatalogue,
  type ToolHandler,
  type ToolOptions,
  type ToolResult,
} from "./server/tools.js";
export type { MethodHandler, NotificationHandler, Server, ServerOptions } from "./server/types.js";
export { log, note, progress, type Yield } from "./server/yields.js";
export {
  AMBIENT,
  type Ask,
  type AskReply,
  type ChunkReply,
  type Client,
  type ContentReply,
  type Context,
  type Era,
  type ItemReply,
  type Layer,
  type LogReply,
  layered,
  type Message,
  type NoteReply,
  type PageReply,
  type ProgressReply,
  type Range,
  type Replies,
  type Reply,
  type ReplyStep,
  type Request,
  type ResultReply,
  type Service,
} from "./service.js";
export { bodyMsOf, defaultTimeouts, fixedTimeouts } from "./timeouts.js";
export { type TemplateVariables, type UriTemplate, uriTemplate } from "./uri-template.js";
export {
  bothEras,
  comesBackToStreams,
  eraOfRefusal,
  eraOfRequest,
  hasBatches,
  isLegacyVersion,
  isModernRequest,
  isModernVersion,
  legacyVersions,
  modernVersions,
  newestVersions,
  statedVersion,
  UNSTATED_VERSION,
} from "./versions.js";
export type {
  Address,
  Command,
  Connection,
  DialOptions,
  ListenAddress,
  Listener,
  ListenOptions,
  RestartOptions,
  Wire,
  WireOptions,
} from "./wire.js";
export { DEFAULT_PORT, layeredConnection, MCP_PATH, SSE_PATH } from "./wire.js";
