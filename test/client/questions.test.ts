import { describe, expect } from 'vitest'
import type { Answers } from '../../src/client.ts'
import { FORM } from './app.ts'
import { failure, next } from './gather.ts'
import { scenario, type Stage } from './scenario.ts'

const TEXT = {
  role: 'assistant',
  content: { type: 'text', text: 'Knock knock' },
  model: 'm',
  stopReason: 'endTurn',
}
const ROOTS = [{ uri: 'file:///home/zoe', name: 'Home' }, { uri: 'file:///srv' }]

/** Calls a tool with a client that answers in a way, and reads its answer. */
async function ask({ join }: Stage, answers: Answers, tool: string): Promise<unknown> {
  const client = await join({ answers })
  const text = String(await client.call(tool))
  return text.startsWith('{') || text.startsWith('[') ? (JSON.parse(text) as unknown) : text
}

describe('a form', () => {
  scenario(
    'is filled in by a handler, with the defaults of what was left out [R200] [R212] [R213] [S2-9.4-8] [S4-1-6] [S4-13-2] [S4-13-5]',
    async (_, stage) => {
      const asked: unknown[] = []
      const elicit: Answers['elicit'] = (question) => {
        asked.push(question)
        return { action: 'accept', content: { name: 'Zoe', size: 's' } }
      }
      // Before 2025-11-25 numbers have no defaults.
      const content = { name: 'Zoe', size: 's', ...(stage.revision >= '2025-11-25' && { copies: 2 }) }
      expect(await ask(stage, { elicit }, 'form')).toEqual({ action: 'accept', content })
      const { name, size, copies } = FORM.properties
      const older = { name, size: { type: 'string', enum: ['s', 'l'] }, copies: { type: 'integer' } }
      const properties = stage.revision >= '2025-11-25' ? { name, size, copies } : older
      expect(asked).toEqual([
        { message: 'Who?', schema: { type: 'object', properties, required: FORM.required } },
      ])
    },
    { since: '2025-06-18' },
  )

  scenario(
    'may be declined or left, and content goes only with an accepted one [R212] [S4-13-3]',
    async (_, stage) => {
      for (const [action, told] of [
        ['decline', 'decline'],
        ['reject', 'decline'],
        ['cancel', 'cancel'],
      ] as const) {
        const elicit: Answers['elicit'] = () => ({ action, content: { name: 'hidden' } })
        expect(await ask(stage, { elicit }, 'form')).toEqual({ action: told })
      }
    },
    { since: '2025-06-18' },
  )

  scenario(
    'that is declined says so with another word where a server knows only that [S4-13-3]',
    async (_, stage) => {
      expect(await ask(stage, { elicit: () => ({ action: 'decline' }), rejects: true }, 'form')).toEqual({
        action: 'decline',
      })
    },
    { since: '2025-06-18', on: ['stdio', 'http'] },
  )

  scenario(
    'follows another in one call, and the answers do not mix with those of other calls [R225]',
    async (_, { join }) => {
      let turn = 0
      const client = await join({
        answers: { elicit: () => ({ action: 'accept', content: { name: `n${++turn}` } }) },
      })
      expect(await client.call('two')).toBe('n1 n2')
      const many = await Promise.all(Array.from({ length: 10 }, () => client.call('two')))
      const names = many.flatMap((one) => String(one).split(' '))
      expect(new Set(names).size).toBe(20)
    },
    { since: '2025-06-18' },
  )

  scenario(
    'may be asked while a prompt is filled in',
    async (_, { join }) => {
      const client = await join({
        answers: { elicit: () => ({ action: 'accept', content: { name: 'Zoe' } }) },
      })
      const { messages } = await client.prompt('ask')
      expect(messages).toMatchObject([{ content: { text: 'Hello Zoe' } }])
    },
    { since: '2025-06-18' },
  )
})

describe('a URL', () => {
  scenario(
    'is handed on whole and never fetched, and the end of the visit is told [R215] [R217] [S2-9.4-8]',
    async (_, { join, revision }) => {
      const asked: { readonly url: string; readonly elicitationId?: string | undefined }[] = []
      const client = await join({
        answers: {
          elicitUrl(question) {
            asked.push(question)
            return { action: 'accept' }
          },
        },
      })
      const done = revision === '2025-11-25' ? next(client, 'elicited') : undefined
      expect(await client.call('visit')).toBe('accept')
      expect(asked.map(({ url }) => url)).toEqual(['https://pay.example/start?order=7#now'])
      if (done !== undefined) expect(await done).toEqual({ elicitationId: asked[0]?.elicitationId })
    },
    { since: '2025-11-25' },
  )

  scenario(
    'is not visited without consent [R215]',
    async (_, stage) => {
      expect(await ask(stage, { elicitUrl: () => ({ action: 'decline' }) }, 'visit')).toBe('decline')
    },
    { since: '2025-11-25' },
  )
})

describe('the model', () => {
  scenario(
    'is asked by a handler, which hears how long the answer may be [R200] [R204] [S2-9.4-6] [S4-12-2] [S4-12-3]',
    async (_, stage) => {
      const asked: unknown[] = []
      const sample: Answers['sample'] = (params) => {
        asked.push(params)
        return TEXT
      }
      expect(await ask(stage, { sample }, 'model')).toEqual(TEXT)
      expect(asked).toMatchObject([
        { maxTokens: 50, messages: [{ role: 'user', content: { text: 'A joke, please' } }] },
      ])
    },
  )

  scenario(
    'may answer with an image, and with sound where the revision has it [S4-12-3]',
    async (_, stage) => {
      const image = { ...TEXT, content: { type: 'image', data: 'aW1n', mimeType: 'image/png' } }
      expect(await ask(stage, { sample: () => image }, 'model')).toEqual(image)
      if (stage.revision < '2025-03-26') return
      const sound = { ...TEXT, content: { type: 'audio', data: 'c25k', mimeType: 'audio/wav' } }
      expect(await ask(stage, { sample: () => sound }, 'model')).toEqual(sound)
    },
  )

  scenario(
    'may be given tools when that was declared [S4-12-3]',
    async (_, stage) => {
      const use = { type: 'tool_use', id: 't1', name: 'dice', input: {} }
      const answer = { role: 'assistant', content: [use], model: 'm', stopReason: 'toolUse' }
      const tools: unknown[] = []
      const sample: Answers['sample'] = (params) => {
        tools.push(params['tools'])
        return answer
      }
      expect(await ask(stage, { sample, sampleTools: true }, 'model-tools')).toEqual(answer)
      expect(tools).toMatchObject([[{ name: 'dice' }]])
    },
    { since: '2025-11-25' },
  )

  scenario(
    'is not asked before somebody agreed: an approval stands before the handler [S4-12-4] [S4-7-1]',
    async (_, { join }) => {
      let asked = 0
      const client = await join({
        answers: {
          sample() {
            asked++
            return TEXT
          },
        },
      })
      let agreed = false
      const offered: unknown[] = []
      client.use('sampling/createMessage', (request, next) => {
        offered.push(request.params['messages'])
        if (!agreed) throw new Error('the user does not want that')
        return next()
      })
      expect(await failure(client.call('model'))).toBeInstanceOf(Error)
      expect(asked).toBe(0)
      agreed = true
      expect(JSON.parse(String(await client.call('model')))).toEqual(TEXT)
      expect(asked).toBe(1)
      expect(offered).toEqual([expect.any(Array), expect.any(Array)])
    },
  )
})

describe('roots', () => {
  scenario(
    'are given out as they are, by name where they have one [R200] [R201] [S2-9.4-4] [S4-11-2]',
    async (_, stage) => {
      expect(await ask(stage, { roots: ROOTS }, 'folders')).toEqual(ROOTS)
      expect(await ask(stage, { roots: async () => ROOTS.slice(1) }, 'folders')).toEqual(ROOTS.slice(1))
    },
  )

  scenario('that are no file URIs are refused when they are given [R201]', async (_, { join }) => {
    const roots = [{ uri: 'https://example.com' }]
    expect(await failure(join({ answers: { roots } }))).toMatchObject({ kind: 'bad_option' })
    const client = await join({ answers: { roots: () => roots } })
    expect(await failure(client.call('folders'))).toBeInstanceOf(Error)
    expect(await failure(client.answer({ roots }))).toMatchObject({ kind: 'bad_option' })
  })

  scenario('are not given out before somebody agreed [S4-7-1] [S4-7-2]', async (_, { join }) => {
    let given = 0
    const roots = (): typeof ROOTS => {
      given++
      return ROOTS
    }
    const client = await join({ answers: { roots } })
    let agreed = false
    client.use('roots/list', (_request, next) => {
      if (!agreed) throw new Error('the user does not want that')
      return next()
    })
    expect(await failure(client.call('folders'))).toBeInstanceOf(Error)
    expect(given).toBe(0)
    agreed = true
    expect(JSON.parse(String(await client.call('folders')))).toEqual(ROOTS)
  })

  scenario(
    'and all else is given out by handlers only: without them nothing is declared [R200] [S4-7-2] [S0-5.2] [S4-7-1]',
    async (client, { join }) => {
      const { extensions: _, ...declared } = JSON.parse(String(await client.call('declared'))) as Record<
        string,
        unknown
      >
      expect(declared).toEqual({})
      for (const tool of ['folders', 'model']) expect(await failure(client.call(tool))).toBeInstanceOf(Error)
      const asking = await join({ answers: { roots: ROOTS, sample: () => TEXT } })
      expect(JSON.parse(String(await asking.call('declared')))).toMatchObject({ roots: {}, sampling: {} })
    },
  )
})

scenario('answers may be given and changed while connected', async (_, { join }) => {
  const client = await join()
  expect(await failure(client.call('folders'))).toBeInstanceOf(Error)
  await client.answer({ roots: ROOTS })
  expect(JSON.parse(String(await client.call('folders')))).toEqual(ROOTS)
  await client.answer({})
  expect(await failure(client.call('folders'))).toBeInstanceOf(Error)
})
