import type { ClientSubject } from '../client-subject.ts'
import { usualOffer, type Offer } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Visit } from '../client/visit.ts'
import { member } from '../message.ts'
import { ALL, E_ONLY, passed, TRANSPORTS, unchecked, type Rule } from '../rule.ts'
import { broken, shown } from './verdicts.ts'

/** Cursors with characters that a client must not touch. At 2026-07-28 the empty text is one too. */
const CURSORS: readonly string[] = ['Pg/2 =&%41"é', 'third page']
const MODERN_CURSORS: readonly string[] = [...CURSORS, '']

/** Rules about lists. */
export const CLIENT_LIST_RULES: readonly Rule<ClientSubject>[] = [
  {
    id: 'R154',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A $ref to another place is not fetched.',
    how: 'Offers a tool whose schemas refer to pages of the validator, and looks who requests these.',
    fix: 'Resolve only references within the schema, and reject the others.',
    async check(subject) {
      const visit = await subject.visit(REFERENCES)
      const fetched = visit.fetched[0]
      if (fetched !== undefined)
        return broken(visit, fetched, `the client fetches the reference ${fetched.path}`)
      return visit.ownRequests('tools/list').length > 0 ? passed : unchecked('the client lists no tools')
    },
  },
  {
    id: 'R182',
    level: 'must',
    revisions: ALL,
    transports: TRANSPORTS,
    rule: 'Cursors are returned as they came, until there is no nextCursor; at 2026-07-28 the empty text is a cursor.',
    how: 'Lists tools on several pages, whose cursors have unusual characters.',
    fix: 'Send the nextCursor of the last page without any change, and stop if it is missing.',
    async check(subject) {
      const visit = await subject.visit(PAGES)
      const given = cursorsOf(visit)
      const sent = visit
        .ownRequests()
        .map((heard) => ({ ...heard, cursor: member(heard.message, 'params', 'cursor') }))
        .filter(({ cursor }) => cursor !== undefined)
      const wrong = sent.find(
        ({ message, cursor }) => message['method'] !== 'tools/list' || !given.includes(cursor as string),
      )
      if (wrong !== undefined)
        return broken(visit, wrong.seen, `no page had the cursor ${shown(wrong.cursor)}`)
      const missing = given.find((cursor) => !sent.some((one) => one.cursor === cursor))
      if (sent.length === 0) return unchecked('the client asks for the first page only')
      if (missing === undefined) return passed
      return missing === ''
        ? broken(visit, sent.at(-1)?.seen, 'the client does not ask for the page whose cursor is empty')
        : unchecked('the client asks for some pages only')
    },
  },
]

function cursorsOf({ isModern }: Visit): readonly string[] {
  return isModern ? MODERN_CURSORS : CURSORS
}

const PAGES: Scenario = {
  name: 'pages',
  does: 'lists its tools on several pages',
  revisions: ALL,
  transports: TRANSPORTS,
  begin: () => ({
    async message(turn) {
      if (turn.method !== 'tools/list') return false
      const cursors = cursorsOf(turn.visit)
      const { cursor } = turn.params
      const page = cursor === undefined ? 0 : cursors.indexOf(cursor as string) + 1
      if (cursor !== undefined && page === 0) {
        await turn.fail(-32_602, 'Invalid cursor')
        return true
      }
      const { tools } = usualOffer(turn.revision)
      const isLast = page >= cursors.length
      await turn.reply({
        tools: isLast ? tools.slice(page) : tools.slice(page, page + 1),
        ...(!isLast && { nextCursor: cursors[page] }),
      })
      return true
    },
  }),
}

const REFERENCES: Scenario = {
  name: 'references',
  does: 'offers a tool whose schemas refer to another server',
  revisions: E_ONLY,
  transports: TRANSPORTS,
  begin: () => ({
    hasSite: true,
    offer: (offer: Offer, { site }: Visit): Offer => ({
      ...offer,
      tools: [
        ...offer.tools,
        {
          name: 'refer',
          description: 'Has schemas that refer to another server',
          inputSchema: { type: 'object', properties: { city: { $ref: `${site}/city.json` } } },
          outputSchema: { $ref: `${site}/output.json` },
        },
      ],
    }),
  }),
}
