export { ImageService, RepositoryCommitService } from "./buf/alpha/registry/v1alpha1/registry_pb.js";
export { FileDescriptorSetService as ReflectService } from "./buf/reflect/v1beta1/reflect_pb.js";
export {
  type Commit,
  CommitSchema,
  CommitService,
  DigestType,
  DownloadService,
  FileDescriptorSetService,
  GraphService,
  ModuleService,
  ModuleState,
  ModuleVisibility,
  type ResourceRef,
} from "./buf/registry/module/v1/module_pb.js";
