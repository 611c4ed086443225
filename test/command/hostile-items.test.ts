import { describe, expect, it } from 'vitest'
import { lintTools } from '../../src/cli/tool-lint.ts'
import { answering } from './answering.ts'
import { line } from './line.ts'

/** No text can be made of it in the usual way. */
const ODD = { toString: 1 }

const LISTS = {
  'tools/list': {
    tools: [
      { name: 'evil', inputSchema: { type: 'object', properties: { a: { type: [ODD, 'string'] } } } },
      { name: 'odd', inputSchema: { type: 'object', properties: { a: { type: ODD } }, required: [ODD] } },
      { name: 'good', inputSchema: { type: 'object', properties: { b: { type: ['string', 'null'] } } } },
    ],
  },
  'prompts/list': {
    prompts: [
      { name: 'evil', arguments: [{ name: ODD }, { name: 'c', required: true }] },
      { name: 'good', arguments: [{ name: 'd' }] },
    ],
  },
  'resources/list': {
    resources: [
      { uri: 'evil://1', name: 'evil', description: ODD },
      { uri: 'good://1', name: 'good' },
    ],
  },
  'resources/templates/list': {
    resourceTemplates: [
      { uriTemplate: 'evil://{a}', name: 'evil', title: ODD },
      { uriTemplate: 'good://{a}', name: 'good' },
    ],
  },
}

describe('items of which a part is of a wrong type', () => {
  it('are listed with what is wrong, and the others as they are', async () => {
    const { code, stdout, stderr } = await line(['list', ...answering(LISTS)], { terminal: true })
    expect(code).toBe(0)
    expect(stderr).not.toContain('error')
    for (const text of [
      'evil(a?: (not a type)|string)',
      'odd(a?: (not a type))',
      'good(b?: string|null)',
      'evil((no name)?, c)',
      'good(d?)',
      'evil://1',
      'good://1',
      'good://{a}',
    ])
      expect(stdout).toContain(text)
    const { tools } = JSON.parse((await line(['list', 'tools', ...answering(LISTS)])).stdout)
    expect(tools).toHaveLength(3)
  })

  it('do not keep others from being called', async () => {
    const prompts = { ...LISTS, 'prompts/get': { messages: [] } }
    expect((await line(['prompt', 'good', 'd=1', ...answering(prompts)])).code).toBe(0)
    expect((await line(['prompt', 'goof', ...answering(prompts)])).stderr).toContain('did you mean "good"?')
    const { stderr } = await line(['prompt', 'evil', 'x=1', ...answering(prompts)])
    expect(stderr).toContain('The prompt is evil((no name)?, c).')
    const calls = { ...LISTS, 'tools/call': { content: [] } }
    expect((await line(['call', 'good', 'b=1', ...answering(calls)])).code).toBe(0)
    expect((await line(['call', 'goof', ...answering(calls)])).stderr).toContain('did you mean "good"?')
  })

  it('do not keep doctor from looking at the rest', async () => {
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {} },
      serverInfo: { name: ODD, version: ODD },
    }
    const { stdout } = await line(['doctor', ...answering({ ...LISTS, initialize })])
    expect(stdout).toContain('connected to (no name) (no version) in')
    expect(stdout).toContain('tools: 3')
    expect(stdout).toContain('prompts: 2')
    expect(stdout).not.toMatch(/primitive|TypeError|fails/)
    const found = lintTools([{ name: 'a', title: ODD, description: 'It says what it does.' }])
    expect(found.map(({ text }) => text)).toEqual([
      'tool "a": the input schema is not an object at the top level',
    ])
  })
})
