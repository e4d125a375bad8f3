import { stat, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { Fault, type JsonObject } from "../../api/index.js";
import { isObject } from "../../core/index.js";
import { codeOf, decodeBase64 } from "../../stream/index.js";
import { misuse } from "../session/mistake.js";

/** Where `-o` puts the files of a result. */
export interface SaveTo {
  readonly path: string;
  readonly isDirectory: boolean;
}

export interface SavedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
}

/** The given path: an existing directory, or a file in one. */
export async function saveTo(path: string): Promise<SaveTo> {
  if (path === "-") throw misuse("-o takes a file or a directory; --json prints the whole result on stdout");
  const isDirectory = async (name: string): Promise<boolean> => (await stat(name).catch(() => undefined))?.isDirectory() === true;
  if (await isDirectory(path)) return { path, isDirectory: true };
  const parent = /[/\\]$/.test(path) ? path : dirname(path);
  if (!(await isDirectory(parent))) throw misuse(`-o ${path}: there is no directory ${parent}`);
  return { path, isDirectory: false };
}

/** The bytes in a content block: an image, audio, or a binary resource. */
export function blobOf(block: JsonObject): { readonly mimeType: string; readonly base64: string } | undefined {
  const { type, data, resource } = block;
  const source = type === "resource" && isObject(resource) ? resource : block;
  const base64 = type === "resource" ? source["blob"] : type === "image" || type === "audio" ? data : undefined;
  return typeof base64 === "string" ? { mimeType: String(source["mimeType"] ?? "application/octet-stream"), base64 } : undefined;
}

/**
 * Saves the binary blocks. A file name is used for the first of them; the others get a number. In a directory they are named after the
 * tool, and never overwrite a file.
 */
export async function saveBlobs(blocks: readonly JsonObject[], to: SaveTo, tool: string): Promise<SavedFile[]> {
  const saved: SavedFile[] = [];
  for (const blob of blocks.map(blobOf)) {
    if (blob === undefined) continue;
    const bytes = bytesOf(blob.base64);
    const extension = extensionOf(blob.mimeType);
    const path = to.isDirectory
      ? await writeNew(join(to.path, safeName(tool)), extension, bytes)
      : await writeOver(numbered(to.path, extension, saved.length + 1), bytes);
    saved.push({ path, mimeType: blob.mimeType, size: bytes.byteLength });
  }
  return saved;
}

function bytesOf(base64: string): Uint8Array {
  try {
    return decodeBase64(base64);
  } catch (error) {
    throw new Fault("invalid-request", "the result has an image, audio or a blob that is not base64", { cause: error });
  }
}

async function writeOver(path: string, bytes: Uint8Array): Promise<string> {
  await writeFile(path, bytes).catch(unwritten(path));
  return path;
}

async function writeNew(stem: string, extension: string, bytes: Uint8Array): Promise<string> {
  for (let at = 1; ; at++) {
    const path = `${stem}-${at}${extension}`;
    const taken = await writeFile(path, bytes, { flag: "wx" }).then(
      () => false,
      (error: unknown) => codeOf(error) === "EEXIST" || unwritten(path)(error),
    );
    if (!taken) return path;
  }
}

function unwritten(path: string): (error: unknown) => never {
  return (error) => {
    throw new Fault("internal", `-o: ${path} cannot be written (${codeOf(error)})`, { cause: error });
  };
}

/** `shot.png`, `shot-2.png`, `shot-3.wav`. A name without an extension gets that of its type. */
function numbered(path: string, extension: string, number: number): string {
  const own = extname(path);
  if (number === 1) return own === "" ? `${path}${extension}` : path;
  return `${path.slice(0, path.length - own.length)}-${number}${extension}`;
}

/** A server chooses the names of its tools, but not where files go. */
function safeName(tool: string): string {
  return tool.replace(/[^\w-]+/g, "_").slice(0, 100) || "result";
}

/** Types whose file extension differs from their subtype. */
const extensions: Readonly<Record<string, string>> = {
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/vnd.wave": "wav",
  "audio/wave": "wav",
  "application/gzip": "gz",
  "application/octet-stream": "bin",
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "image/vnd.microsoft.icon": "ico",
  "text/javascript": "js",
  "text/markdown": "md",
  "text/plain": "txt",
};

export function extensionOf(mimeType: string): string {
  const type = mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  const [, subtype] = /^[a-z]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(type) ?? [];
  return `.${Object.hasOwn(extensions, type) ? extensions[type] : (subtype ?? "bin")}`;
}
