import type { Rule } from './rule.ts'
import { AUTHORIZATION_RULES } from './server-rules/authorization.ts'
import { CAPABILITY_RULES } from './server-rules/capabilities.ts'
import { PAGE_RULES } from './server-rules/pages.ts'
import { TOOL_INPUT_RULES } from './server-rules/tool-input.ts'
import { BATCH_RULES } from './server-rules/batches.ts'
import { MALFORMED_RULES } from './server-rules/malformed.ts'
import { MEDIA_TYPE_RULES } from './server-rules/media-types.ts'
import { CHANGE_RULES } from './server-rules/changes.ts'
import { VERSION_RULES } from './server-rules/versions.ts'
import { ENVELOPE_RULES } from './server-rules/envelope.ts'
import { HTTP_MODERN_RULES } from './server-rules/http-modern.ts'
import { HTTP_REQUEST_RULES } from './server-rules/http-requests.ts'
import { HTTP_STREAM_RULES } from './server-rules/http-streams.ts'
import { JSON_RPC_RULES } from './server-rules/json-rpc.ts'
import { LIFECYCLE_RULES } from './server-rules/lifecycle.ts'
import { LISTED_RULES } from './server-rules/listed.ts'
import { LINE_RULES } from './server-rules/lines.ts'
import { LOG_LEVEL_RULES } from './server-rules/log-levels.ts'
import { METHOD_RULES } from './server-rules/method-rules.ts'
import { PING_RULES } from './server-rules/pings.ts'
import { PROGRESS_RULES } from './server-rules/progress.ts'
import { PROMPT_RULES } from './server-rules/prompts.ts'
import { QUESTION_RULES } from './server-rules/questions.ts'
import { RESOURCE_RULES } from './server-rules/resources.ts'
import { ROUND_RULES } from './server-rules/rounds.ts'
import { SHAPE_RULES } from './server-rules/shapes.ts'
import { SUBSCRIPTION_RULES } from './server-rules/subscriptions.ts'
import { TASK_EXTENSION_RULES } from './server-rules/task-extension.ts'
import { TASK_RULES } from './server-rules/tasks.ts'
import { TOOL_LIST_RULES } from './server-rules/tool-lists.ts'
import { TOOL_RULES } from './server-rules/tools.ts'
import { UNKNOWN_TASK_RULES } from './server-rules/unknown-tasks.ts'
import { HANDSHAKE_RULES } from './server-rules/handshake.ts'
import { SCHEMA_RULES } from './server-rules/schemas.ts'
import { TEXT_RULES } from './server-rules/texts.ts'
import { WEB_SAFETY_RULES } from './server-rules/web-safety.ts'
import { latencyRules } from './server-rules/latency.ts'
import type { ServerSubject } from './server-subject.ts'

/** The rules for servers, in the order in which they are checked. */
export const SERVER_RULES: readonly Rule<ServerSubject>[] = [
  ...HANDSHAKE_RULES,
  ...METHOD_RULES,
  ...JSON_RPC_RULES,
  ...MALFORMED_RULES,
  ...BATCH_RULES,
  ...LIFECYCLE_RULES,
  ...ENVELOPE_RULES,
  ...PING_RULES,
  ...VERSION_RULES,
  ...LINE_RULES,
  ...HTTP_REQUEST_RULES,
  ...MEDIA_TYPE_RULES,
  ...HTTP_STREAM_RULES,
  ...HTTP_MODERN_RULES,
  ...TOOL_RULES,
  ...TOOL_LIST_RULES,
  ...TOOL_INPUT_RULES,
  ...RESOURCE_RULES,
  ...PROMPT_RULES,
  ...CAPABILITY_RULES,
  ...LISTED_RULES,
  ...PAGE_RULES,
  ...LOG_LEVEL_RULES,
  ...PROGRESS_RULES,
  ...QUESTION_RULES,
  ...ROUND_RULES,
  ...SUBSCRIPTION_RULES,
  ...CHANGE_RULES,
  ...SHAPE_RULES,
  ...AUTHORIZATION_RULES,
  ...TASK_RULES,
  ...TASK_EXTENSION_RULES,
  ...UNKNOWN_TASK_RULES,
  ...SCHEMA_RULES,
  ...TEXT_RULES,
  ...WEB_SAFETY_RULES,
  ...latencyRules(),
]
