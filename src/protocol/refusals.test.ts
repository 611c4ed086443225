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

/** Five about elicitation, then five about tasks; their statuses and severities are ours. */
const EXPERIMENTAL = `
  1090 ELICITATION_FAILED 500 warn
  1091 ELICITATION_TIMEOUT 408 warn
  1092 ELICITATION_CANCELLED 409 warn
  1093 INVALID_ELICITATION_MODE 400 warn
  1094 ELICITATION_SECURITY_ERROR 400 critical
  1095 TASK_NOT_FOUND 404 warn
  1096 TASK_DEPENDENCY_FAILED 500 warn
  1097 TASK_CANCELLED 409 warn
  1098 TASK_TIMEOUT 408 warn
  1099 INVALID_TASK_STATE 409 warn
`

function linesOf(table: string): readonly string[] {
  return table
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

/** The rows of the catalogue with codes in a range, in the form of the tables above. */
function rowsOf(first: number, last: number): readonly string[] {
  return Object.entries(CATALOGUE)
    .filter(([, { code }]) => code >= first && code <= last)
    .map(([name, { code, http, severity }]) => `${code} ${name} ${http} ${severity}`)
    .toSorted()
}

test('every refusal has the code, the name, the HTTP status and the severity that were asked for [S2-8.3-2] [S2-0-3] [S2-13-S3]', () => {
  expect(linesOf(DOCUMENTED)).toHaveLength(51)
  expect(rowsOf(0, 1089)).toEqual(linesOf(DOCUMENTED))
})

test('from 1090 to 1099 five refusals are about elicitation and five about tasks [S2-8.3-12]', () => {
  expect(rowsOf(1090, Infinity)).toEqual(linesOf(EXPERIMENTAL))
})

/** The codes of the refusals after which a client does something other than correct its request. */
const REACTIONS: Readonly<Partial<Record<RefusalRow['reaction'], string>>> = {
  'back off': '1001 1002 1003 1004 1005 1056 1057 1058 1059 1060 1069 1078 1079 1080 1086 1087 1088 1089',
  authenticate: '1011 1012 1013 1015',
  initialize: '1016 1026',
  reconnect: '1067 1076 1077',
  'give up': '1014 1036 1038 1094',
}

test('a refusal tells the client how to react, which is to correct its request except for those listed', () => {
  const asked = Object.values(CATALOGUE).map(({ code, reaction }) => [String(code), reaction] as const)
  const others = Object.entries(REACTIONS).flatMap(([reaction, codes]) =>
    codes.split(' ').map((code) => [code, reaction] as const),
  )
  const expected = new Map<string, string>([...asked.map(([code]) => [code, 'fix'] as const), ...others])
  expect(new Map<string, string>(asked)).toEqual(expected)
})

test('the request may have run anyway only where the outcome is unknown', () => {
  const ran = Object.entries(CATALOGUE).filter(([, row]) => row.ran === true)
  expect(ran.map(([name]) => name)).toEqual([
    'TRANSPORT_ERROR',
    'TIMEOUT',
    'INTERNAL_ERROR',
    'DEPENDENCY_UNAVAILABLE',
  ])
})
