import type { ClientSubject } from './client-subject.ts'
import { CLIENT_AUTHORIZATION_RULES } from './client-rules/authorization.ts'
import { CLIENT_CACHING_RULES } from './client-rules/caching.ts'
import { CLIENT_FORM_RULES } from './client-rules/forms.ts'
import { CLIENT_HTTP_MODERN_RULES } from './client-rules/http-modern.ts'
import { CLIENT_HTTP_RULES } from './client-rules/http.ts'
import { CLIENT_JSON_RPC_RULES } from './client-rules/json-rpc.ts'
import { CLIENT_LIFECYCLE_RULES } from './client-rules/lifecycle.ts'
import { CLIENT_LINE_RULES } from './client-rules/lines.ts'
import { CLIENT_LIST_RULES } from './client-rules/lists.ts'
import { CLIENT_PROGRESS_RULES } from './client-rules/progress.ts'
import { CLIENT_QUESTION_RULES } from './client-rules/questions.ts'
import { CLIENT_ROUND_RULES } from './client-rules/rounds.ts'
import { CLIENT_TASK_RULES } from './client-rules/tasks.ts'
import type { Rule } from './rule.ts'

/*
 * How to add a rule for clients
 *
 * 1. If the usual server (`client/usual.ts`, `client/offer.ts`) shows what the rule is about, `await subject.usual()` has everything that the
 *    client sent: `requests()`, `heard`, `http('POST')`, `asked`, `happened`. Offer one more tool or question there if that is enough.
 * 2. Otherwise write a scenario (`client/scenario.ts`) beside the rules that need it: a name, a sentence, and `begin()`, which returns what
 *    this server does differently (`message`, `http`, `offer`, `opened`, `line`). `await subject.visit(SCENARIO)` starts the client with
 *    it, once. Scenarios cost a start of the client each: put what can be seen together into one.
 * 3. A check never blames a client for what it did not do: `unchecked('the client calls no tool')`. Use `broken(visit, seen, found)` of
 *    `client-rules/verdicts.ts`, so that the report shows the exchange.
 * 4. Rules about all messages have `isLast: true` and look at `await subject.visits()`.
 * 5. Prove it in `test/validate/client-*.test.ts` with `proveClient(title, rules, faults)`.
 */

/** The rules for clients, in the order in which they are reported. */
export const CLIENT_RULES: readonly Rule<ClientSubject>[] = [
  ...CLIENT_JSON_RPC_RULES,
  ...CLIENT_LIFECYCLE_RULES,
  ...CLIENT_LINE_RULES,
  ...CLIENT_HTTP_RULES,
  ...CLIENT_HTTP_MODERN_RULES,
  ...CLIENT_LIST_RULES,
  ...CLIENT_PROGRESS_RULES,
  ...CLIENT_QUESTION_RULES,
  ...CLIENT_FORM_RULES,
  ...CLIENT_ROUND_RULES,
  ...CLIENT_CACHING_RULES,
  ...CLIENT_TASK_RULES,
  ...CLIENT_AUTHORIZATION_RULES,
]
