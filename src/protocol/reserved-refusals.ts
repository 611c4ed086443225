import type { RefusalRow } from './refusals.ts'

/**
 * The refusals that our server never sends: those of definitions, which stay in the process, and those that only other
 * servers use so far. Together with `REFUSALS` there are 51 from 1001 to 1089, and ten experimental ones from 1090 on.
 */
// oxfmt-ignore
export const RESERVED_REFUSALS = {
  INVALID_JSON_SCHEMA:             { code: 1022, http: 400, severity: 'error',    reaction: 'fix' },
  PATH_TRAVERSAL_DETECTED:         { code: 1036, http: 400, severity: 'critical', reaction: 'give up' },
  PATH_INVALID:                    { code: 1037, http: 400, severity: 'error',    reaction: 'fix' },
  SYMLINK_TRAVERSAL_DETECTED:      { code: 1038, http: 400, severity: 'critical', reaction: 'give up' },
  URI_OUT_OF_BOUNDS:               { code: 1039, http: 400, severity: 'error',    reaction: 'fix' },
  CANONICAL_PATH_VIOLATION:        { code: 1040, http: 400, severity: 'error',    reaction: 'fix' },
  TOOL_DUPLICATE:                  { code: 1049, http: 409, severity: 'warn',     reaction: 'fix' },
  PROMPT_DUPLICATE:                { code: 1051, http: 409, severity: 'warn',     reaction: 'fix' },
  ENTITY_DUPLICATE:                { code: 1052, http: 409, severity: 'warn',     reaction: 'fix' },
  RATE_LIMIT_EXCEEDED:             { code: 1056, http: 429, severity: 'error',    reaction: 'back off' },
  RATE_LIMIT_PER_SECOND:           { code: 1057, http: 429, severity: 'error',    reaction: 'back off' },
  RATE_LIMIT_PER_MINUTE:           { code: 1058, http: 429, severity: 'error',    reaction: 'back off' },
  QUOTA_EXCEEDED:                  { code: 1059, http: 429, severity: 'error',    reaction: 'back off' },
  CIRCUIT_BREAKER_OPEN:            { code: 1086, http: 503, severity: 'warn',     reaction: 'back off' },
  HEALTH_CHECK_FAILED:             { code: 1087, http: 503, severity: 'warn',     reaction: 'back off' },
  DEGRADED_SERVICE:                { code: 1088, http: 503, severity: 'warn',     reaction: 'back off' },
  ELICITATION_FAILED:              { code: 1090, http: 500, severity: 'warn',     reaction: 'fix' },
  ELICITATION_TIMEOUT:             { code: 1091, http: 408, severity: 'warn',     reaction: 'fix' },
  ELICITATION_CANCELLED:           { code: 1092, http: 409, severity: 'warn',     reaction: 'fix' },
  INVALID_ELICITATION_MODE:        { code: 1093, http: 400, severity: 'warn',     reaction: 'fix' },
  ELICITATION_SECURITY_ERROR:      { code: 1094, http: 400, severity: 'critical', reaction: 'give up' },
} as const
RESERVED_REFUSALS satisfies Record<string, RefusalRow>
