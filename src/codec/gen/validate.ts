export { type FieldRules, FieldRulesSchema, field, file_buf_validate_validate, Ignore, message, OneofRulesSchema, oneof } from "./buf/validate/validate_pb.js";
