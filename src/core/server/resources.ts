import { cachedJson } from "../cached-json.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Resource, ResourceTemplate } from "../protocol.js";
import type { Context, Reply, Request } from "../service.js";
import { type UriTemplate, uriTemplate } from "../uri-template.js";
import type { Complete } from "./completion.js";
import { type HandlerContext, Handling, type ReadContext, type TemplateContext } from "./context.js";
import type { OpenList } from "./listing.js";
import { type ReadResult, reading } from "./reading.js";
import type { Awaitable } from "./run.js";
import type { Source } from "./source.js";

export type ResourceReader<C extends ReadContext = ReadContext> = (uri: string, ctx: C) => Awaitable<ReadResult>;

/** A resource template. `complete` and `list` stay on the server; everything else is published. */
export interface TemplateOptions extends ResourceTemplate {
  /** Completes variables, by name. */
  readonly complete?: { readonly [variable: string]: Complete };
  /** The resources of this template for resources/list. */
  readonly list?: (ctx: HandlerContext) => Awaitable<Source<Resource>>;
}

/** Resources made when they are asked for. */
export interface ResourceCatalogue {
  list(ctx: HandlerContext): Awaitable<Source<Resource>>;
  templates?(ctx: HandlerContext): Awaitable<Source<ResourceTemplate>>;
  /** Undefined if there is no such resource. */
  read(uri: string, ctx: ReadContext): Awaitable<ReadResult>;
}

interface TemplateEntry {
  readonly published: ResourceTemplate;
  readonly template: UriTemplate;
  readonly read: ResourceReader<TemplateContext>;
  readonly list: TemplateOptions["list"];
  readonly complete: ReadonlyMap<string, Complete>;
}
interface Opened {
  readonly given: Exclude<ReadResult, undefined>;
  readonly mimeType: string | undefined;
}

export class Resources {
  readonly #fixed = new Map<string, { readonly resource: Resource; readonly read: ResourceReader }>();
  readonly #templates: TemplateEntry[] = [];
  readonly #catalogues: ResourceCatalogue[] = [];
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  get any(): boolean {
    return this.#fixed.size > 0 || this.#templates.length > 0 || this.#catalogues.length > 0;
  }
  get completes(): boolean {
    return this.#templates.some(({ complete }) => complete.size > 0);
  }

  add(resource: Resource, read: ResourceReader): void {
    if (this.#fixed.has(resource.uri)) throw new Fault("invalid-params", `a resource ${resource.uri} is already registered`);
    this.#fixed.set(resource.uri, { resource: cachedJson(resource), read });
  }

  addTemplate(options: TemplateOptions, read: ResourceReader<TemplateContext>): void {
    const { complete = {}, list, ...rest } = options;
    const published = cachedJson(rest as ResourceTemplate);
    const template = uriTemplate(published.uriTemplate);
    this.#templates.push({ published, template, read, list, complete: new Map(Object.entries(complete)) });
  }

  addCatalogue(catalogue: ResourceCatalogue): void {
    this.#catalogues.push(catalogue);
  }

  sources(ctx: HandlerContext): OpenList[] {
    const openings: OpenList[] = [() => registered(this.#fixed.values())];
    for (const { list } of this.#templates) if (list !== undefined) openings.push(() => list(ctx));
    for (const catalogue of this.#catalogues) openings.push(() => catalogue.list(ctx));
    return openings;
  }

  templateSources(ctx: HandlerContext): OpenList[] {
    const openings: OpenList[] = [() => this.#templates.map(({ published }) => published)];
    for (const catalogue of this.#catalogues) openings.push(() => catalogue.templates?.(ctx) ?? []);
    return openings;
  }

  /** The completion functions of a template's variables; undefined if there is no such template. */
  completion(uri: string): ReadonlyMap<string, Complete> | undefined {
    return (
      this.#templates.find(({ published }) => published.uriTemplate === uri)?.complete ?? (this.#fixed.has(uri) ? new Map() : undefined)
    );
  }

  async *read(request: Request, context: Context, rest: JsonObject): AsyncGenerator<Reply, JsonObject, undefined> {
    const { uri } = request.params;
    if (typeof uri !== "string") throw new Fault("invalid-params", "params.uri: must be a string");
    try {
      const opened = await this.#open(uri, request, context);
      if (opened === undefined) throw new Fault("not-found", `resource not found: ${uri}`, { data: { uri } });
      const { given, mimeType } = opened;
      return yield* reading(given, mimeType === undefined ? { uri } : { uri, mimeType }, context, rest);
    } catch (error) {
      if (!context.cancel.fired) this.#report(error);
      throw error;
    }
  }

  async #open(uri: string, request: Request, context: Context): Promise<Opened | undefined> {
    const fixed = this.#fixed.get(uri);
    if (fixed !== undefined) return opening(await fixed.read(uri, new Handling(context, request)), fixed.resource.mimeType);
    for (const { template, published, read } of this.#templates) {
      const variables = template.match(uri);
      const given = variables && (await read(uri, new Handling(context, request, variables)));
      if (given !== undefined) return opening(given, published.mimeType);
    }
    for (const catalogue of this.#catalogues) {
      const given = await catalogue.read(uri, new Handling(context, request));
      if (given !== undefined) return opening(given, undefined);
    }
    return undefined;
  }
}

function opening(given: ReadResult, mimeType: string | undefined): Opened | undefined {
  return given === undefined ? undefined : { given, mimeType };
}

function* registered(entries: Iterable<{ readonly resource: Resource }>): Generator<Resource> {
  for (const { resource } of entries) yield resource;
}
