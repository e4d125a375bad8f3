// Prints proto/buf/validate/validate.proto from the descriptor that @bufbuild/protovalidate brings. Then: npx buf generate
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, file_google_protobuf_descriptor } from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate as file } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printFile } from "../../dist/schema/index.js";

const licence = `// Copyright 2023-2026 Buf Technologies, Inc. Licensed under the Apache License, Version 2.0.
// https://github.com/bufbuild/protovalidate. Printed from its descriptor, without the comments.
`;
const proto = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, file.proto));
const folder = new URL("../../proto/buf/validate/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("validate.proto", folder), `${licence}${printFile(proto, createRegistry(file, file_google_protobuf_descriptor))}`);
spawnSync("npx", ["buf", "format", "proto", "--path", "proto/buf", "--write"], {
  cwd: new URL("../..", import.meta.url),
  stdio: "inherit",
});
