import { expect, test } from 'vitest'
import { answerQuestion } from './answers.ts'

test('tools for the model are refused by a client that did not declare them', async () => {
  const asked: unknown[] = []
  const sample = (params: object): { role: string } => {
    asked.push(params)
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
  expect(asked).toEqual([])
  expect(await ask({ sampleTools: true })).toEqual({ role: 'assistant' })
})
