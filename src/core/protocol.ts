import type { JsonObject } from "./json.js";

/** The protocol's own shapes, open: members that are not named here are kept. */
export interface Implementation extends JsonObject {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

export interface Annotations extends JsonObject {
  readonly audience?: readonly ("user" | "assistant")[];
  readonly priority?: number;
  readonly lastModified?: string;
}

export interface ToolAnnotations extends JsonObject {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface Tool extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

export interface Resource extends JsonObject {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
}

export interface ResourceTemplate extends JsonObject {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface PromptArgument extends JsonObject {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface Prompt extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
}

export interface TextContent extends JsonObject {
  readonly type: "text";
  readonly text: string;
  readonly annotations?: Annotations;
}
export interface ImageContent extends JsonObject {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}
export interface AudioContent extends JsonObject {
  readonly type: "audio";
  readonly data: string;
  readonly mimeType: string;
}
export interface ResourceLink extends JsonObject {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
}
export interface EmbeddedResource extends JsonObject {
  readonly type: "resource";
  readonly resource: ResourceContents;
}
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** A resource's content: `text`, or `blob` in base64. */
export interface ResourceContents extends JsonObject {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface CallToolResult extends JsonObject {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface ReadResourceResult extends JsonObject {
  readonly contents: readonly ResourceContents[];
}

export interface PromptMessage extends JsonObject {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}
export interface GetPromptResult extends JsonObject {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

/** What a completion is for: a prompt's argument, or a variable of a resource template. */
export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string; readonly title?: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface CompleteResult extends JsonObject {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };
}

/** What a server asks the user: a form to fill in, or a page to visit. */
export interface ElicitParams extends JsonObject {
  readonly message: string;
  readonly mode?: "form" | "url";
  /** For mode `form`. */
  readonly requestedSchema?: JsonObject;
  /** For mode `url`. */
  readonly url?: string;
}
/** What a server asks a model to generate. */
export interface SampleParams extends JsonObject {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly tools?: readonly JsonObject[];
}
/** A message of the conversation that a server asks a model to continue. */
export interface SamplingMessage extends JsonObject {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock | readonly JsonObject[] | JsonObject;
}

/** The user's answer to a question. `content` holds the fields of the form if `action` is `accept`. */
export interface ElicitResult extends JsonObject {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonObject;
}
/** The message that the client's model produced. */
export interface SampleResult extends JsonObject {
  readonly role: "user" | "assistant";
  readonly content: unknown;
  readonly model: string;
  readonly stopReason?: string;
}
/** A directory or file that the client offers to the server. */
export interface Root extends JsonObject {
  readonly uri: string;
  readonly name?: string;
}
/** The answer to `roots/list`. */
export interface RootsResult extends JsonObject {
  readonly roots: readonly Root[];
}

/** The answer to `server/discover`: the versions and capabilities of a modern server. */
export interface DiscoverResult extends JsonObject {
  readonly supportedVersions: readonly string[];
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}
