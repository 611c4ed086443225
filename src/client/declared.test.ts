import { expect, test } from 'vitest'
import type { KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { Answers } from './answers.ts'
import {
  capabilitiesOf,
  checkAnswers,
  declarationOf,
  EXTENSIONS,
  type DeclaredExtension,
} from './declared.ts'

const answer = (): never => {
  throw new Error('this test calls no answers')
}

test.each(['elicit', 'elicitUrl', 'sample'])(
  'an answer for %s that is not a function is rejected by name',
  (name) => {
    const rejected = {
      kind: 'bad_option',
      message: expect.stringMatching(`answers: ${name} must be a function`),
    }
    expect(() => checkAnswers({ [name]: 'yes' } as never)).toThrow(expect.objectContaining(rejected))
  },
)

test('every member of the type is accepted, and no other', () => {
  const all: Required<Answers> = {
    elicit: answer,
    elicitUrl: answer,
    rejects: true,
    sample: answer,
    sampleTools: true,
    roots: [{ uri: 'file:///a' }],
  }
  expect(checkAnswers(all)).toBe(all)
  for (const name of Object.keys(all) as (keyof Answers)[])
    expect(checkAnswers({ [name]: all[name] })).toHaveProperty(name)
  expect(() => checkAnswers({ elicits: answer } as never)).toThrow(/answers: .*"elicits".*"elicit"/)
})

test('a root that is not a file URI is rejected by name', () => {
  const rejected = /roots: "http:\/\/a" is not a file:\/\/ URI/
  expect(() => checkAnswers({ roots: [{ uri: 'file:///a' }, { uri: 'http://a' }] })).toThrow(rejected)
})

test.each([
  [{}, {}],
  [{ elicit: answer }, { elicitation: { form: {} } }],
  [{ elicitUrl: answer }, { elicitation: { url: {} } }],
  [{ elicit: answer, elicitUrl: answer }, { elicitation: { form: {}, url: {} } }],
  [{ sample: answer }, { sampling: {} }],
  [{ sample: answer, sampleTools: true }, { sampling: { tools: {} } }],
  [{ sampleTools: true }, {}],
  [{ roots: [] }, { roots: {} }],
  [{ rejects: true }, {}],
] as const)('the answers %o declare %o', (answers, capabilities) => {
  expect(capabilitiesOf(answers as Answers)).toEqual(capabilities)
})

test('extensions are declared by id, with their settings', () => {
  expect(declarationOf()).toEqual({ extensions: { 'io.modelcontextprotocol/tasks': {} } })
  expect(declarationOf([{ id: 'a/b' }, { id: 'c/d', settings: { e: 1 } }])).toEqual({
    extensions: { 'io.modelcontextprotocol/tasks': {}, 'a/b': {}, 'c/d': { e: 1 } },
  })
})

test.each([['health'], [{}], [['health']], [[null]], [[{ id: 5 }]]])(
  'the extensions %o are rejected, and the error shows the correct form',
  (extensions) => {
    const kinds: KindsOf<{ readonly extensions?: readonly DeclaredExtension[] }> = { extensions: EXTENSIONS }
    expect(() => checkOptions('connect', { extensions }, kinds)).toThrow(
      'connect: extensions must be a list of extensions, such as [health]',
    )
  },
)
