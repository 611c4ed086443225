import type { JsonObject } from '../protocol/jsonrpc.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import { clientLowering as to20241105 } from './2024-11-05/lower-client.ts'
import { clientLowering as to20250326 } from './2025-03-26/lower-client.ts'
import { clientLowering as to20250618 } from './2025-06-18/lower-client.ts'
import { clientLowering as to20251125 } from './2025-11-25/lower-client.ts'
import type { ClientLowering, Step } from './lowering.ts'
import { change, changeEach } from './reshape.ts'

/**
 * Turns what a client sends into the form of a revision: the params of a request or notification, or a result. A client does not
 * load the rules for what only servers send, which are several times as large.
 */
export function lowerFromClient(
  kind: 'request' | 'result' | 'notification',
  method: string,
  value: JsonObject,
  revision: Revision,
): JsonObject {
  const rule = RULES.get(`${kind} ${method}`)
  if (rule === undefined) return value
  const steps = STEPS.slice(REVISIONS.indexOf(revision)) as readonly Steps[]
  return steps.reduceRight((newer, step) => rule(step, newer), value)
}

/** In the order of the revisions. The newest needs none. */
const STEPS: readonly ClientLowering[] = [to20241105, to20250326, to20250618, to20251125]

/** The steps of a lowering, for values whose shape only the method tells. */
type Steps = Readonly<Partial<Record<keyof ClientLowering, Step<unknown>>>>
type Rule = (step: Steps, value: JsonObject) => JsonObject

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'request initialize',
    ({ clientCapabilities, implementation }, params) =>
      change(change(params, 'capabilities', clientCapabilities), 'clientInfo', implementation),
  ],
  ['request completion/complete', whole('complete')],
  ['notification notifications/progress', whole('progress')],
  ['result sampling/createMessage', whole('sampleResult')],
  [
    'result roots/list',
    ({ root }, result) => change(result, 'roots', (roots) => changeEach(roots as readonly unknown[], root)),
  ],
])

function whole(shape: keyof ClientLowering): Rule {
  return (step, value) => (step[shape]?.(value) ?? value) as JsonObject
}
