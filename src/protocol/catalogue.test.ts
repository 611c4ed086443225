import { expect, test } from 'vitest'
import { REFUSALS, type RefusalRow } from './refusals.ts'
import { RESERVED_REFUSALS } from './reserved-refusals.ts'

const CATALOGUE: Readonly<Record<string, RefusalRow>> = { ...REFUSALS, ...RESERVED_REFUSALS }

/** Code, name, HTTP status and severity of every refusal, as they were asked for. */
const DOCUMENTED = `
  1001 QUEUE_CAP_EXCEEDED 429 error
  1002 QUEUE_BYTE_CAP_EXCEEDED 429 error
  1003 QUEUE_TENANT_CAP_EXCEEDED 429 critical
  1004 BUFFER_OVERFLOW 503 critical
  1005 BACKPRESSURE_ACTIVE 503 warn
  1011 AUTH_FAILED 401 error
  1012 AUTH_EXPIRED 401 error
  1013 AUTH_INVALID_CREDENTIALS 401 error
  1014 AUTHZ_FORBIDDEN 403 error
  1015 AUTH_MISSING 401 error
  1016 SESSION_INVALID 401 error
  1021 INVALID_PARAMS 400 error
  1022 INVALID_JSON_SCHEMA 400 error
  1023 INVALID_URI 400 error
  1024 INVALID_CONTENT_TYPE 415 error
  1025 INVALID_HEADER 400 error
  1026 INVALID_SESSION_ID 400 error
  1027 INVALID_PROTOCOL_VERSION 400 error
  1028 MISSING_REQUIRED_FIELD 400 error
  1029 FIELD_TYPE_MISMATCH 400 error
  1036 PATH_TRAVERSAL_DETECTED 400 critical
  1037 PATH_INVALID 400 error
  1038 SYMLINK_TRAVERSAL_DETECTED 400 critical
  1039 URI_OUT_OF_BOUNDS 400 error
  1040 CANONICAL_PATH_VIOLATION 400 error
  1046 RESOURCE_NOT_FOUND 404 warn
  1047 RESOURCE_DUPLICATE 409 warn
  1048 TOOL_NOT_FOUND 404 warn
  1049 TOOL_DUPLICATE 409 warn
  1050 PROMPT_NOT_FOUND 404 warn
  1051 PROMPT_DUPLICATE 409 warn
  1052 ENTITY_DUPLICATE 409 warn
  1056 RATE_LIMIT_EXCEEDED 429 error
  1057 RATE_LIMIT_PER_SECOND 429 error
  1058 RATE_LIMIT_PER_MINUTE 429 error
  1059 QUOTA_EXCEEDED 429 error
  1060 CONCURRENT_LIMIT_EXCEEDED 429 error
  1066 PROTOCOL_ERROR 400 error
  1067 TRANSPORT_ERROR 503 error
  1068 MESSAGE_TOO_LARGE 413 error
  1069 TIMEOUT 503 warn
  1070 UNSUPPORTED_ENCODING 415 error
  1076 SERVER_UNINITIALIZED 503 error
  1077 SERVER_SHUTTING_DOWN 503 warn
  1078 SERVICE_UNAVAILABLE 503 warn
  1079 INTERNAL_ERROR 503 critical
  1080 DEPENDENCY_UNAVAILABLE 503 warn
  1086 CIRCUIT_BREAKER_OPEN 503 warn
  1087 HEALTH_CHECK_FAILED 503 warn
  1088 DEGRADED_SERVICE 503 warn
  1089 RESOURCE_EXHAUSTED 503 critical
`

/** Five about elicitation, then five about tasks, from 1090 on. */
const EXPERIMENTAL = [
  'ELICITATION_FAILED',
  'ELICITATION_TIMEOUT',
  'ELICITATION_CANCELLED',
  'INVALID_ELICITATION_MODE',
  'ELICITATION_SECURITY_ERROR',
  'TASK_NOT_FOUND',
  'TASK_DEPENDENCY_FAILED',
  'TASK_CANCELLED',
  'TASK_TIMEOUT',
  'INVALID_TASK_STATE',
]

test('every refusal has the code, the name, the HTTP status and the severity that were asked for [S2-8.3-2] [S2-0-3] [S2-13-S3]', () => {
  const documented = DOCUMENTED.trim()
    .split('\n')
    .map((line) => line.trim())
  expect(documented).toHaveLength(51)
  const found = Object.entries(CATALOGUE)
    .filter(([, { code }]) => code < 1090)
    .map(([name, { code, http, severity }]) => `${code} ${name} ${http} ${severity}`)
  expect(found.toSorted()).toEqual(documented)
})

test('from 1090 to 1099 five refusals are about elicitation and five about tasks [S2-8.3-12]', () => {
  const found = Object.entries(CATALOGUE).filter(([, { code }]) => code >= 1090)
  expect(found.map(([name, { code }]) => [name, code])).toEqual(
    EXPERIMENTAL.map((name, at) => [name, 1090 + at]),
  )
})
