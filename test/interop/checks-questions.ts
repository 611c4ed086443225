import { expect } from 'vitest'
import type { Check } from './check.ts'
import { textOf } from './checks-running.ts'
import { ROOTS, type Json, type Peer } from './peer.ts'

const ACCEPTED = { name: 'Ada', age: 36, member: false, size: 'l', tags: ['red'] }

/** What the server asks the client while it answers a call. */
export const QUESTIONS: readonly Check[] = [
  {
    title: 'shows a form, and its answer comes back checked [R207] [S4-13-4]',
    since: '2025-11-25',
    run: async (peer) => {
      const asked = answerForm(peer, { action: 'accept', content: ACCEPTED })
      expect(JSON.parse(textOf(await peer.call('register')))).toEqual({ action: 'accept', content: ACCEPTED })
      expect(asked).toEqual([
        {
          mode: 'form',
          message: 'Who are you?',
          requestedSchema: {
            type: 'object',
            properties: {
              name: { type: 'string', title: 'Your name', minLength: 1 },
              age: { type: 'integer', minimum: 0, maximum: 150 },
              member: { type: 'boolean', default: true },
              size: {
                type: 'string',
                oneOf: [
                  { const: 's', title: 'Small' },
                  { const: 'l', title: 'Large' },
                ],
              },
              tags: { type: 'array', items: { type: 'string', enum: ['red', 'green'] } },
            },
            required: ['name', 'size', 'tags'],
          },
        },
      ])
    },
  },
  {
    title:
      'shows a form in the words of 2025-06-18, and a multiple choice comes back as a list [R214] [S4-13-4]',
    since: '2025-06-18',
    until: '2025-06-18',
    run: async (peer) => {
      const content: Record<string, unknown> = {}
      const asked = answerForm(peer, { action: 'accept', content })
      peer.answers.elicit = (params) => {
        asked.push(params)
        const { properties } = params['requestedSchema'] as { properties: Record<string, Json> }
        expect(Object.values(properties).every(({ type }) => type !== 'array')).toBe(true)
        const red = Object.keys(properties).find((key) => key.includes('red')) as string
        return { action: 'accept', content: { name: 'Ada', size: 'l', [red]: true } }
      }
      expect(JSON.parse(textOf(await peer.call('register')))).toEqual({
        action: 'accept',
        content: { name: 'Ada', size: 'l', tags: ['red'] },
      })
      expect(asked).toHaveLength(1)
    },
  },
  {
    title: 'may decline a form or cancel it',
    since: '2025-06-18',
    run: async (peer) => {
      for (const action of ['decline', 'cancel']) {
        answerForm(peer, { action })
        expect(JSON.parse(textOf(await peer.call('register')))).toEqual({ action })
      }
    },
  },
  {
    title: 'is not asked what its revision has no words for, even if it could answer [R038] [R039] [S4-5-8]',
    until: '2025-06-18',
    run: async (peer, revision) => {
      const before = peer.wire.received.length
      const tools = [...(revision < '2025-06-18' ? ['register'] : []), 'pay', 'plan']
      for (const tool of tools) expect(await peer.call(tool)).toMatchObject({ isError: true })
      expect(peer.wire.received.slice(before).filter(({ method }) => method !== undefined)).toEqual([])
    },
  },
  {
    title: 'visits a URL, and hears that what happened there is done',
    since: '2025-11-25',
    run: async (peer, revision) => {
      const asked = answerForm(peer, { action: 'accept' })
      expect(textOf(await peer.call('pay'))).toBe('accept')
      const live = revision < '2026-07-28'
      const elicitationId = expect.any(String) as unknown
      expect(asked).toEqual([
        { mode: 'url', message: 'Pay here', url: 'https://example.com/pay', ...(live && { elicitationId }) },
      ])
      if (live) {
        const done = await peer.heard.next('notifications/elicitation/complete')
        expect(done).toEqual({ elicitationId: asked[0]?.['elicitationId'] })
      }
    },
  },
  {
    title: 'lends its model [S2-6.1-1] [S2-6.2-1] [S2-6.2-6] [S2-15-3]',
    run: async (peer) => {
      const answer = {
        role: 'assistant',
        content: { type: 'text', text: 'Knock, knock' },
        model: 'tiny',
        stopReason: 'endTurn',
      }
      const asked = answerModel(peer, answer)
      expect(JSON.parse(textOf(await peer.call('joke')))).toEqual(answer)
      expect(asked).toEqual([
        {
          messages: [{ role: 'user', content: { type: 'text', text: 'Tell a joke' } }],
          maxTokens: 50,
          systemPrompt: 'Be brief',
          temperature: 0.5,
          stopSequences: ['END'],
          modelPreferences: { hints: [{ name: 'small' }], speedPriority: 1 },
        },
      ])
    },
  },
  {
    title: 'lends its model with tools',
    since: '2025-11-25',
    run: async (peer) => {
      const content = [{ type: 'tool_use', id: 'call-1', name: 'weather', input: { city: 'Rome' } }]
      const asked = answerModel(peer, { role: 'assistant', content, model: 'tiny', stopReason: 'toolUse' })
      expect(JSON.parse(textOf(await peer.call('plan')))).toEqual(content)
      expect(asked).toMatchObject([
        {
          tools: [
            { name: 'weather', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } },
          ],
          toolChoice: { mode: 'required' },
        },
      ])
    },
  },
  {
    title: 'tells its roots',
    run: async (peer) => {
      expect(JSON.parse(textOf(await peer.call('folders')))).toEqual(ROOTS)
    },
  },
  {
    title: 'answers three questions of one call [R220] [R221]',
    since: '2025-06-18',
    run: async (peer, revision) => {
      answerForm(peer, { action: 'accept', content: { yes: true } })
      answerModel(peer, { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'tiny' })
      const before = peer.wire.sent.length
      expect(JSON.parse(textOf(await peer.call('survey')))).toEqual([
        { action: 'accept', content: { yes: true } },
        { type: 'text', text: 'hi' },
        ROOTS,
      ])
      const calls = peer.wire.sent.slice(before).filter(({ method }) => method === 'tools/call')
      expect(calls).toHaveLength(revision < '2026-07-28' ? 1 : 2)
    },
  },
  {
    title: 'answers one question after another, while what runs once runs once',
    since: '2025-06-18',
    run: async (peer, revision) => {
      let count = 0
      peer.answers.elicit = () => ({ action: 'accept', content: { yes: ++count === 1 } })
      const before = peer.wire.sent.length
      expect(JSON.parse(textOf(await peer.call('twice')))).toEqual({ steps: [true, false], madeOnce: true })
      const calls = peer.wire.sent.slice(before).filter(({ method }) => method === 'tools/call')
      expect(calls).toHaveLength(revision < '2026-07-28' ? 1 : 3)
      expect(count).toBe(2)
    },
  },
  {
    title: 'answers a question of a prompt [R220]',
    since: '2025-06-18',
    run: async (peer) => {
      answerForm(peer, { action: 'accept', content: { yes: true } })
      expect((await peer.prompt('ask'))['messages']).toEqual([
        { role: 'user', content: { type: 'text', text: 'It is yes.' } },
      ])
    },
  },
]

function answerForm(peer: Peer, answer: Json): Json[] {
  const asked: Json[] = []
  peer.answers.elicit = (params) => {
    asked.push(params)
    return answer
  }
  return asked
}

function answerModel(peer: Peer, answer: Json): Json[] {
  const asked: Json[] = []
  peer.answers.sample = (params) => {
    asked.push(params)
    return answer
  }
  return asked
}
