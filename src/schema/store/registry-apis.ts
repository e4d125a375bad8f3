import type { FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { type CallOptions, createClient, type Transport } from "@connectrpc/connect";
import {
  CommitService,
  FileDescriptorSetService,
  ImageService,
  ReflectService,
  RepositoryCommitService,
} from "../../codec/gen/registry.js";
import { type ModuleName, moduleText } from "./reference.js";
import type { RegistryApiName } from "./registry-options.js";

/** A registry's answer for a version of a module. */
export interface FetchedSet {
  /** As the registry states it. */
  readonly commit: string;
  readonly set: FileDescriptorSet | undefined;
}

/** One of the APIs of a registry. An empty version is the default label. */
export interface RegistryApi {
  set(module: ModuleName, version: string, options: CallOptions): Promise<FetchedSet>;
  /** The commit that a label refers to. Not every API can return it without the descriptors. */
  commit?(module: ModuleName, version: string, options: CallOptions): Promise<string>;
}

/** By name, in the order in which they are tried. */
export const registryApis: Readonly<Record<RegistryApiName, (transport: Transport) => RegistryApi>> = {
  module(transport) {
    const [sets, commits] = [createClient(FileDescriptorSetService, transport), createClient(CommitService, transport)];
    const refOf = ({ owner, repository }: ModuleName, version: string): object => ({
      value: {
        case: "name",
        value: { owner, module: repository, ...(version === "" ? undefined : { child: { case: "ref", value: version } }) },
      },
    });
    return {
      async set(module, version, options) {
        const request = { resourceRef: refOf(module, version), includeSourceCodeInfo: true };
        const { commit, fileDescriptorSet } = await sets.getFileDescriptorSet(request, options);
        return { commit: commit?.id ?? "", set: fileDescriptorSet };
      },
      async commit(module, version, options) {
        const { commits: found } = await commits.getCommits({ resourceRefs: [refOf(module, version)] }, options);
        return found.length === 1 ? (found[0]?.id ?? "") : "";
      },
    };
  },
  alpha(transport) {
    const [images, commits] = [createClient(ImageService, transport), createClient(RepositoryCommitService, transport)];
    const commitOf = async ({ owner, repository }: ModuleName, version: string, options: CallOptions): Promise<string> => {
      const request = { repositoryOwner: owner, repositoryName: repository, reference: version };
      return (await commits.getRepositoryCommitByReference(request, options)).repositoryCommit?.name ?? "";
    };
    return {
      async set(module, version, options) {
        // The image does not name its commit, so that is asked for first, and then the image of that commit.
        const commit = await commitOf(module, version, options);
        const { owner, repository } = module;
        return { commit, set: (await images.getImage({ owner, repository, reference: commit }, options)).image };
      },
      commit: commitOf,
    };
  },
  reflect(transport) {
    const sets = createClient(ReflectService, transport);
    return {
      async set(module, version, options) {
        const answer = await sets.getFileDescriptorSet({ module: moduleText(module), version }, options);
        return { commit: answer.version, set: answer.fileDescriptorSet };
      },
    };
  },
};
