import { create } from "@bufbuild/protobuf";
import { type FileDescriptorProto, type FileDescriptorSet, FileDescriptorSetSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import {
  CommitService,
  DigestType,
  DownloadService,
  FileDescriptorSetService,
  GraphService,
  ImageService,
  ModuleService,
  ModuleState,
  ModuleVisibility,
  ReflectService,
  RepositoryCommitService,
  type ResourceRef,
} from "../../codec/gen/registry.js";
import { isKnownFile } from "../descriptors.js";
import { type ServedCommit, type ServedModules, uuidOf } from "./modules.js";

/** The most versions in one request, as in the registry that this replaces. */
const REFS = 250;

/** Implements all three registry APIs for descriptors, and those with which buf fetches the text of a module. */
export function registryRoutes(modules: ServedModules): (router: ConnectRouter) => void {
  const byRefs = async (refs: readonly (ResourceRef | undefined)[]): Promise<ServedCommit[]> => {
    if (refs.length > REFS) throw new ConnectError(`a request may name ${REFS} versions`, Code.InvalidArgument);
    const all = await modules.all();
    return refs.map((ref) => {
      if (ref?.value.case === "id") return byId(all, ref.value.value);
      if (ref?.value.case !== "name") throw new ConnectError("the request names nothing", Code.InvalidArgument);
      const { owner, module, child } = ref.value.value;
      return byName(all, { owner, repository: module, version: child.value ?? "" });
    });
  };
  const named = async (owner: string, repository: string, version: string): Promise<ServedCommit> =>
    byName(await modules.all(), { owner, repository, version });
  return (router) => {
    router.service(CommitService, {
      getCommits: async ({ resourceRefs }) => ({ commits: (await byRefs(resourceRefs)).map(commitMessage) }),
    });
    router.service(FileDescriptorSetService, {
      async getFileDescriptorSet(request) {
        const [commit] = (await byRefs([request.resourceRef])) as [ServedCommit];
        return {
          commit: commitMessage(commit),
          fileDescriptorSet: cut(commit.set, {
            imports: !request.excludeImports,
            comments: request.includeSourceCodeInfo,
            types: request.includeTypes,
          }),
        };
      },
    });
    router.service(DownloadService, {
      async download({ values }) {
        const commits = await byRefs(values.map(({ resourceRef }) => resourceRef));
        return { contents: commits.map((commit) => ({ commit: commitMessage(commit), files: [...commit.sources()] })) };
      },
    });
    router.service(GraphService, {
      // A module contains everything it imports, so none depends on another.
      getGraph: async ({ resourceRefs }) => ({ graph: { commits: (await byRefs(resourceRefs)).map(commitMessage) } }),
    });
    router.service(ModuleService, {
      async getModules({ moduleRefs }) {
        if (moduleRefs.length > REFS) throw new ConnectError(`a request may name ${REFS} modules`, Code.InvalidArgument);
        const all = await modules.all();
        return {
          modules: moduleRefs.map(({ value }) =>
            moduleMessage(
              all,
              value.case === "name"
                ? byName(all, { owner: value.value.owner, repository: value.value.module, version: "" })
                : byId(all, value.value ?? ""),
            ),
          ),
        };
      },
    });
    router.service(RepositoryCommitService, {
      async getRepositoryCommitByReference({ repositoryOwner, repositoryName, reference }) {
        const { id, at } = await named(repositoryOwner, repositoryName, reference);
        return { repositoryCommit: { id, name: id, createTime: timestampFromDate(at) } };
      },
    });
    router.service(ImageService, {
      async getImage({ owner, repository, reference, excludeImports, excludeSourceInfo, types }) {
        const { set } = await named(owner, repository, reference);
        return { image: cut(set, { imports: !excludeImports, comments: !excludeSourceInfo, types }) };
      },
    });
    router.service(ReflectService, {
      async getFileDescriptorSet({ module, version, symbols }) {
        const [owner = "", repository = ""] = module.split("/").slice(-2);
        const { set, id } = await named(owner, repository, version);
        return { fileDescriptorSet: cut(set, { imports: true, comments: false, types: symbols }), version: id };
      },
    });
  };
}

interface Wanted {
  readonly owner: string;
  readonly repository: string;
  /** A label or a commit. Empty: the default label. */
  readonly version: string;
}

function byName(all: readonly ServedCommit[], { owner, repository, version }: Wanted): ServedCommit {
  const module = all.filter((commit) => commit.owner === owner && commit.repository === repository);
  const found =
    version === "" ? defaultOf(module) : (module.find(({ label }) => label === version) ?? module.find(({ id }) => id === version));
  if (found === undefined)
    throw new ConnectError(`there is no ${owner}/${repository}${version === "" ? "" : `:${version}`}`, Code.NotFound);
  return found;
}

function byId(all: readonly ServedCommit[], id: string): ServedCommit {
  const found = all.find((commit) => commit.id === id) ?? defaultOf(all.filter((commit) => moduleId(commit) === id));
  if (found === undefined) throw new ConnectError("there is nothing with this id", Code.NotFound);
  return found;
}

/** `main` if it exists, otherwise the label with the highest number. */
function defaultOf(module: readonly ServedCommit[]): ServedCommit | undefined {
  const sorted = [...module].sort((one, other) => one.label.localeCompare(other.label, "en", { numeric: true }));
  return sorted.find(({ label }) => label === "main") ?? sorted.at(-1);
}

const moduleId = ({ owner, repository }: ServedCommit): string => uuidOf(`${owner}/${repository}`);
const ownerId = ({ owner }: ServedCommit): string => uuidOf(owner);

function commitMessage(commit: ServedCommit): object {
  return {
    id: commit.id,
    createTime: timestampFromDate(commit.at),
    ownerId: ownerId(commit),
    moduleId: moduleId(commit),
    ...digestMessage(commit),
  };
}

/** Descriptors that cannot be printed have no text to digest. They are still served. */
function digestMessage(commit: ServedCommit): object {
  try {
    return { digest: { type: DigestType.B5, value: commit.digest() } };
  } catch {
    return {};
  }
}

function moduleMessage(all: readonly ServedCommit[], commit: ServedCommit): object {
  const { owner, repository } = commit;
  return {
    id: moduleId(commit),
    ownerId: ownerId(commit),
    name: repository,
    createTime: timestampFromDate(commit.at),
    updateTime: timestampFromDate(commit.at),
    visibility: ModuleVisibility.PUBLIC,
    state: ModuleState.ACTIVE,
    defaultLabelName: byName(all, { owner, repository, version: "" }).label,
  };
}

interface Cut {
  readonly imports: boolean;
  readonly comments: boolean;
  readonly types: readonly string[];
}

function cut(set: FileDescriptorSet, { imports, comments, types }: Cut): FileDescriptorSet {
  let file = types.length === 0 ? set.file : withTypes(set.file, types);
  if (!imports) file = file.filter(({ name }) => !isKnownFile(name));
  if (!comments) file = file.map(({ sourceCodeInfo: _, ...rest }) => rest as FileDescriptorProto);
  return create(FileDescriptorSetSchema, { file });
}

/** The files with these messages, and their imports. */
function withTypes(files: readonly FileDescriptorProto[], types: readonly string[]): FileDescriptorProto[] {
  const wanted = new Set<string>();
  for (const type of types) {
    const found = files.find(({ package: scope, messageType, enumType, service }) =>
      [...messageType, ...enumType, ...service].some(({ name }) => {
        const full = scope === "" ? name : `${scope}.${name}`;
        return type === full || type.startsWith(`${full}.`) || type === scope;
      }),
    );
    if (found === undefined) throw new ConnectError(`there is no ${type}`, Code.FailedPrecondition);
    wanted.add(found.name);
  }
  const byName = new Map(files.map((file) => [file.name, file]));
  // The loop also visits what it adds to the set.
  for (const name of wanted) for (const dependency of byName.get(name)?.dependency ?? []) wanted.add(dependency);
  return files.filter(({ name }) => wanted.has(name));
}
