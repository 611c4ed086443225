import { expect, test } from 'vitest'
import { answerQuestion } from './answers.ts'

test('a client that did not declare tools rejects a sampling request with tools', async () => {
  const requests: unknown[] = []
  const sample = (params: object): { role: string } => {
    requests.push(params)
    return { role: 'assistant' }
  }
  const ask = (answers: { sampleTools?: boolean }): Promise<unknown> =>
    answerQuestion(
      { sample, ...answers },
      'sampling/createMessage',
      { messages: [], tools: [] },
      AbortSignal.any([]),
    )
  for (const answers of [{}, { sampleTools: false }])
    await expect(ask(answers)).rejects.toMatchObject({
      kind: 'bad_params',
      message: expect.stringContaining('sampling/createMessage'),
    })
  expect(requests).toEqual([])
  expect(await ask({ sampleTools: true })).toEqual({ role: 'assistant' })
})

test('a URL that is too long to be shown to a user is rejected', async () => {
  const opened: string[] = []
  const elicitUrl = ({ url }: { readonly url: string }): { action: 'decline' } => {
    opened.push(url)
    return { action: 'decline' }
  }
  const ask = (url: string): Promise<unknown> =>
    answerQuestion({ elicitUrl }, 'elicitation/create', { mode: 'url', url }, AbortSignal.any([]))
  const longest = `https://mcp.example/${'a'.repeat(8192 - 20)}`
  expect(await ask(longest)).toEqual({ action: 'decline' })
  await expect(ask(`${longest}a`)).rejects.toMatchObject({
    kind: 'bad_params',
    message: expect.stringContaining('at most 8192 characters'),
  })
  expect(opened).toEqual([longest])
})

test('a question with more params than any has is rejected before they are copied', async () => {
  const asked: object[] = []
  const sample = (params: object): { role: string } => {
    asked.push(params)
    return { role: 'assistant' }
  }
  const ask = (count: number): Promise<unknown> => {
    const params = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))
    return answerQuestion(
      { sample },
      'sampling/createMessage',
      { system: 's', ...params },
      AbortSignal.any([]),
    )
  }
  await expect(ask(10_000)).rejects.toMatchObject({
    kind: 'bad_params',
    message: expect.stringContaining('there are more than 10000'),
  })
  expect(asked).toEqual([])
  await ask(9999)
  expect(asked[0]).toMatchObject({ systemPrompt: 's', k9998: 0 })
  expect(asked[0]).not.toHaveProperty('system')
})
