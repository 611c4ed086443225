import type { Rule } from './rule.ts'
import { ENVELOPE_RULES } from './server-rules/envelope.ts'
import { HTTP_MODERN_RULES } from './server-rules/http-modern.ts'
import { HTTP_REQUEST_RULES } from './server-rules/http-requests.ts'
import { JSON_RPC_RULES } from './server-rules/json-rpc.ts'
import { LIFECYCLE_RULES } from './server-rules/lifecycle.ts'
import { PROGRESS_RULES } from './server-rules/progress.ts'
import { PROMPT_RULES } from './server-rules/prompts.ts'
import { RESOURCE_RULES } from './server-rules/resources.ts'
import { TOOL_RULES } from './server-rules/tools.ts'
import type { ServerSubject } from './server-subject.ts'

/** The rules for servers, in the order in which they are checked. */
export const SERVER_RULES: readonly Rule<ServerSubject>[] = [
  ...JSON_RPC_RULES,
  ...LIFECYCLE_RULES,
  ...ENVELOPE_RULES,
  ...HTTP_REQUEST_RULES,
  ...HTTP_MODERN_RULES,
  ...TOOL_RULES,
  ...RESOURCE_RULES,
  ...PROMPT_RULES,
  ...PROGRESS_RULES,
]
