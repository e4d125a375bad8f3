export { type JsonSchemaOptions, messageSchema } from "./back/json-schema.js";
export {
  type Catalogue,
  type CatalogueOptions,
  type CatalogueWriter,
  catalogueWriter,
  moduleFiles,
  packageOf,
  parseTools,
  toolsOf,
} from "./catalogue.js";
export type { FieldNote, Residual } from "./convert/notes.js";
export {
  type ConvertedSchema,
  type ConvertedTool,
  type ConvertOptions,
  convertTool,
  knownFiles,
  type ToolSchemas,
} from "./convert/tool.js";
export { descriptorSet, type MessageSet, readDescriptorSet } from "./descriptors.js";
export { discoveryTools, type ProgressiveOptions, progressive } from "./discover/progressive.js";
export { SCHEMA_UNRESOLVED } from "./fault.js";
export { compareLocks, type SchemaChange } from "./lock/compare.js";
export {
  LOCK_FILE,
  type Lock,
  type LockedField,
  type LockedMessage,
  type LockedMessages,
  type LockedTool,
  parseLock,
} from "./lock/lock.js";
export { printFile } from "./print/print.js";
export { type RegistryServeOptions, registryMount, serveRegistry } from "./serve/serve.js";
export { SERVICE_FILE, serviceSet } from "./service-set.js";
export { schemaCachePath } from "./store/disk.js";
export type { UnresolvedReason } from "./store/fault.js";
export { type MessageNames, pickMessages, type StoredToolMessages } from "./store/messages.js";
export { type ModuleName, parseReference, type SchemaReference } from "./store/reference.js";
export type { RegistryApiName, RegistryOptions } from "./store/registry-options.js";
export { keyPin, type RegistryTls } from "./store/registry-tls.js";
export {
  type LoadedSchema,
  type ResolvedSchema,
  type ResolveOptions,
  type SchemaStore,
  type SchemaStoreOptions,
  schemaStore,
} from "./store/store.js";
export { described, firstSentence, indexLine, type ShownTool, signature } from "./tokens/text.js";
export {
  type CatalogueTokens,
  type CountTokens,
  catalogueTokens,
  type Encoding,
  encodings,
  type ShownAs,
  tokenizer,
} from "./tokens/tokens.js";
export { type BaseToolsOptions, baseTools } from "./typed/base-tools.js";
export { type ListedTypedTool, type ToolTyper, type ToolTyperOptions, type TypedMessage, toolTyper } from "./typed/tool-typer.js";
export { type TypedToolsOptions, typedTools } from "./typed/typed-tools.js";
export { messageCodec, schemaCodec, type ValueCodec } from "./values/codec.js";
export { writeFiles } from "./write-files.js";
