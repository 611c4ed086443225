import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answering } from './answering.ts'
import { line } from './line.ts'

const EVIL = '\u001b]0;owned\u0007\u202e'
// oxlint-disable-next-line no-control-regex
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/

function tool(
  inputSchema: unknown,
  content: unknown = [{ type: 'text', text: 'fine' }],
): Record<string, unknown> {
  return { 'tools/list': { tools: [{ name: 'x', inputSchema }] }, 'tools/call': { content } }
}

const OBJECT = { type: 'object' }

describe('what a server sends', () => {
  it.each([
    [['call', 'x'], tool(OBJECT, [{ type: 'image', data: 'AAAA', mimeType: EVIL }])],
    [['call', 'x'], tool(OBJECT, [{ type: 'resource_link', uri: EVIL, name: EVIL, title: EVIL }])],
    [['call', 'x'], tool(OBJECT, [{ type: EVIL, text: EVIL }])],
    [
      ['call', 'x'],
      tool(OBJECT, [{ type: 'resource', resource: { uri: EVIL, blob: 'AAAA', mimeType: EVIL } }]),
    ],
    [['call', 'y'], { 'tools/list': { tools: [{ name: EVIL, inputSchema: OBJECT }] } }],
    [
      ['prompt', 'x'],
      { 'prompts/get': { messages: [{ role: EVIL, content: { type: 'text', text: EVIL } }] } },
    ],
    [['read', 'a:b'], { 'resources/read': { contents: [{ uri: EVIL, blob: 'AAAA', mimeType: EVIL }] } }],
    [['complete', 'x', 'a=b'], { 'completion/complete': { completion: { values: [EVIL] } } }],
    [
      ['tasks', 'show', 'x'],
      { 'tasks/get': { taskId: 'x', status: EVIL, statusMessage: EVIL, createdAt: EVIL } },
    ],
    [['tasks', 'cancel', 'x'], { 'tasks/get': { taskId: 'x', status: EVIL, statusMessage: EVIL } }],
    [['tasks', 'list'], { 'tasks/list': { tasks: [{ taskId: EVIL, status: EVIL, createdAt: EVIL }] } }],
    [
      ['info'],
      {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { [EVIL]: {} },
          serverInfo: { name: EVIL },
        },
      },
    ],
  ])('is never printed raw: %j', async (words, results) => {
    for (const terminal of [true, false]) {
      const { stdout, stderr } = await line([...words, ...answering(results)], { terminal })
      expect(stdout).not.toMatch(RAW)
      expect(stderr.replaceAll('\r\u001b[2K', '')).not.toMatch(RAW)
    }
  })

  it.each([
    [['call', 'x'], tool(OBJECT, 5)],
    [['call', 'x'], tool(OBJECT, [5, null])],
    [['call', 'x'], tool(OBJECT, [{ type: 'text', text: 5 }])],
    [['call', 'x'], tool(OBJECT, [{ type: 'image', data: 5 }])],
    [['call', 'x'], tool(OBJECT, [{ type: 'resource', resource: null }])],
    [['call', 'x'], tool(OBJECT, [{ type: 'resource_link', uri: 5, name: 5 }])],
    [['prompt', 'x'], { 'prompts/get': { messages: 5 } }],
    [['prompt', 'x'], { 'prompts/get': { messages: [null] } }],
    [['prompt', 'x'], { 'prompts/get': { messages: [{ role: 5, content: 5 }] } }],
    [['read', 'a:b'], { 'resources/read': { contents: 5 } }],
    [['read', 'a:b'], { 'resources/read': { contents: [5] } }],
    [['complete', 'x', 'a=b'], { 'completion/complete': { completion: { values: 5 } } }],
    [['complete', 'x', 'a=b'], { 'completion/complete': { completion: { values: [5] } } }],
    [['list'], { 'tools/list': { tools: [5] } }],
    [['list'], { 'tools/list': { tools: [{ name: 5, inputSchema: 5 }] } }],
    [['list', 'resources'], { 'resources/list': { resources: [{ uri: 5, name: 5, description: 5 }] } }],
    [['tasks', 'list'], { 'tasks/list': { tasks: 5 } }],
    [['tasks', 'show', 'x'], { 'tasks/get': { taskId: 'x', status: 5 } }],
  ])(
    'of a wrong shape is the fault of the server, and never of the command: %j %j',
    async (words, results) => {
      for (const terminal of [true, false]) {
        const { code, stderr } = await line([...words, ...answering(results)], { terminal })
        expect([code, stderr]).toEqual([6, expect.stringContaining('error: ')])
      }
    },
  )

  it.each([
    { anyOf: 5 },
    { type: 'object', properties: 5, required: 5 },
    { type: 'object', properties: { a: 5, b: null, c: { anyOf: 5, enum: 5, items: 5 } }, required: [5] },
    { type: 'object', oneOf: [5, null], properties: { c: { type: [5], oneOf: [null], items: [5] } } },
  ])('in the schema %j does not keep a tool from being called', async (schema) => {
    const end = answering(tool(schema))
    const called = await line(['call', 'x', 'c=1', 'a=2', ...end], { terminal: true })
    expect(called).toMatchObject({ code: 0, stdout: 'fine\n' })
    expect((await line(['list', 'tools', ...end], { terminal: true })).code).toBe(0)
    expect([0, 8]).toContain((await line(['doctor', ...end])).code)
  })
})

describe('--save', () => {
  const BYTES = Buffer.from('some bytes').toString('base64')

  it.each([
    [
      ['call', 'x'],
      tool(OBJECT, [
        { type: 'text', text: 'a' },
        { type: 'image', data: BYTES, mimeType: 'image/png' },
      ]),
      'image-1.png',
    ],
    [
      ['call', 'x'],
      tool(OBJECT, [{ type: 'resource', resource: { uri: 'a:b', blob: BYTES } }]),
      'data-1.bin',
    ],
    [
      ['read', 'a:b'],
      { 'resources/read': { contents: [{ uri: 'a:b', blob: BYTES, mimeType: 'text/plain' }] } },
      'data-1.txt',
    ],
    [
      ['prompt', 'x'],
      {
        'prompts/get': {
          messages: [{ role: 'user', content: { type: 'audio', data: BYTES, mimeType: 'audio/wav' } }],
        },
      },
      'audio-1.wav',
    ],
  ])('writes the bytes of %j for people and for programs, and says where', async (words, results, name) => {
    for (const terminal of [true, false]) {
      const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-save-')))
      onTestFinished(() => rmSync(cwd, { recursive: true }))
      const { code, stdout } = await line([...words, '--save', 'out', ...answering(results)], {
        cwd,
        terminal,
      })
      expect(code).toBe(0)
      const file = join(cwd, 'out', name)
      expect(readFileSync(file, 'utf8')).toBe('some bytes')
      const shown = terminal ? stdout : JSON.parse(stdout).saved.join('|')
      expect(shown).toContain(terminal ? `saved as out/${name}` : file)
    }
  })

  it('does not invent paths without the option', async () => {
    const { stdout } = await line(['call', 'x', ...answering(tool(OBJECT))])
    expect(JSON.parse(stdout)).not.toHaveProperty('saved')
  })
})

describe('numbers', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' }, either: { type: ['integer', 'string'] }, s: { type: 'string' } },
  }

  it.each([
    ['n=12345678901234567890'],
    ['n=1152921504606846976'],
    ['n:=12345678901234567890'],
    ['other:={"a":[12345678901234567890]}'],
  ])('that lose digits are refused: %s', async (word) => {
    const { code, stderr } = await line(['call', 'x', word, ...answering(tool(schema))])
    expect(stderr).toContain('has more digits than a number keeps')
    expect(stderr).toContain('fix: ')
    expect(code).toBe(2)
  })

  it.each([
    ['n=10000000000000000'],
    ['n=-9007199254740991'],
    ['either=12345678901234567890'],
    ['free=12345678901234567890'],
    ['s:="12345678901234567890"'],
    ['n=1.5e3'],
    ['n=-0'],
  ])('that lose none, and texts, are sent: %s', async (word) => {
    expect((await line(['call', 'x', word, ...answering(tool(schema))])).code).toBe(0)
  })
})
