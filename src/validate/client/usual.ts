import { member, type Message } from '../message.ts'
import { OUR_INFO } from '../session.ts'
import { callTool, usualOffer, type Offer } from './offer.ts'
import type { Behaviour } from './scenario.ts'
import type { Turn } from './turn.ts'
import { isProbe } from './visit.ts'

export type { Offer } from './offer.ts'

/** The name of a request that no client knows. */
const UNKNOWN_REQUEST = 'validator/unknown'
/** The name of a notification that no client knows. */
export const UNKNOWN_NOTIFICATION = 'notifications/validator'

/** Answers a message as the usual server does. It forgives mistakes, so that one does not hide another. */
export async function usualAnswer(turn: Turn, behaviour: Behaviour): Promise<void> {
  const { visit } = turn
  if (!turn.isRequest) return
  const offer = offerOf(turn, behaviour)
  if (!visit.isModern && isProbe(turn.message))
    return turn.fail(
      visit.transport === 'http' ? -32_000 : -32_601,
      'Unsupported protocol version',
      undefined,
      400,
    )
  if (turn.method === 'initialize') return initialize(turn, offer)
  if (turn.method === 'ping' && !visit.isModern) return turn.reply({})
  await knock(turn)
  const answer = ANSWERS.get(turn.method)
  if (answer === undefined)
    return turn.fail(-32_601, 'Method not found', undefined, visit.isModern ? 404 : 200)
  await answer(turn, offer)
}

/** What the server of a scenario offers. */
function offerOf(turn: Turn, behaviour: Behaviour): Offer {
  const usual = usualOffer(turn.revision)
  return behaviour.offer?.(usual, turn.visit) ?? usual
}

async function initialize(turn: Turn, { capabilities }: Offer): Promise<void> {
  const { visit } = turn
  if (visit.isModern)
    return turn.fail(
      -32_022,
      'Unsupported protocol version',
      { supported: [visit.revision], requested: String(turn.params['protocolVersion']) },
      400,
    )
  await turn.reply({ protocolVersion: visit.revision, capabilities, serverInfo: OUR_INFO })
}

/** Before it answers the first request, the server asks for what every client must answer. */
async function knock(turn: Turn): Promise<void> {
  const { visit } = turn
  if (visit.isModern || visit.notes.has('knocked')) return
  visit.notes.set('knocked', true)
  await turn.notify(UNKNOWN_NOTIFICATION, { from: 'the validator' })
  await Promise.all([
    turn.ask('ping', undefined, 'ping-1'),
    turn.ask('ping', undefined, 4711),
    turn.ask(UNKNOWN_REQUEST),
  ])
}

type Answer = (turn: Turn, offer: Offer) => Promise<void>

const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  [
    'server/discover',
    async (turn, { capabilities }) => {
      if (turn.visit.isModern) return turn.reply({ supportedVersions: [turn.revision], capabilities })
      await turn.fail(-32_601, 'Method not found')
    },
  ],
  ['tools/list', (turn, { tools }) => turn.reply({ tools })],
  ['tools/call', (turn) => callTool(turn)],
  ['resources/list', (turn, { resources }) => turn.reply({ resources })],
  ['resources/templates/list', (turn) => turn.reply({ resourceTemplates: [] })],
  ['resources/read', (turn) => turn.reply({ contents: [contentsOf(String(turn.params['uri']))] })],
  ['prompts/list', (turn, { prompts }) => turn.reply({ prompts })],
  [
    'prompts/get',
    (turn) =>
      turn.reply({ messages: [{ role: 'user', content: { type: 'text', text: 'Say something kind.' } }] }),
  ],
  ['completion/complete', (turn) => turn.reply({ completion: { values: ['ships', 'shores'] } })],
  ['subscriptions/listen', listen],
])

function contentsOf(uri: string): Message {
  return uri.endsWith('bytes')
    ? { uri, mimeType: 'image/png', blob: 'iVBORw0KGgo=' }
    : { uri, mimeType: 'text/plain', text: 'a text' }
}

/** Accepts a subscription, and leaves it open. */
async function listen(turn: Turn): Promise<void> {
  if (!turn.visit.isModern) return turn.fail(-32_601, 'Method not found')
  await turn.notify('notifications/subscriptions/acknowledged', {
    notifications: (member(turn.params, 'notifications') as Message | undefined) ?? {},
    _meta: { 'io.modelcontextprotocol/subscriptionId': turn.message['id'] },
  })
}
