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
