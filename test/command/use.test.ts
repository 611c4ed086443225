import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, image, ToolError, type Running } from 'pierhead'
import { line } from './line.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let running: Running
let url = ''
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pierhead-use-'))
  const app = createServer({ name: 'desk', version: '1.0.0' })
  app.tool(
    'echo',
    {
      description: 'Returns its arguments.',
      input: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          count: { type: 'integer' },
          on: { type: 'boolean' },
          tags: { type: 'array', items: { type: 'string' } },
          sizes: { type: 'array', items: { type: 'number' } },
          place: { type: 'object', properties: { x: { type: 'number' } } },
          either: { anyOf: [{ type: 'number' }, { type: 'null' }] },
          list: { type: 'array', items: { type: 'object' } },
          'a.b': { type: 'integer' },
          'ns:key': { type: 'integer' },
          ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`other${i}`, {}])),
        },
        required: ['text'],
        additionalProperties: false,
      },
    },
    (input: object) => JSON.stringify(input),
  )
  app.tool(
    'exact',
    {
      input: {
        type: 'object',
        properties: { priority: { enum: ['low', 'high'] }, id: { type: 'integer' } },
        required: ['priority'],
      },
    },
    () => 'done',
  )
  app.tool('picture', {}, () => [image(PIXEL, 'image/png')])
  app.tool('fails', {}, () => {
    throw new ToolError('no \u001b[31mluck')
  })
  app.tool('slow', {}, async (_, ctx) => {
    ctx.progress(1, 2, 'half\u001b[2J way')
    return 'done'
  })
  app.resource('notes://{id}', { name: 'note', mimeType: 'text/plain' }, ({ id }) => `note ${id}\u0007`)
  app.prompt(
    'review',
    { args: { type: 'object', properties: { language: { type: 'string' } }, required: ['language'] } },
    ({ language }: { language: string }) => `Review ${language}`,
  )
  app.complete('review', 'language', (value) => ['TypeScript', 'Rust'].filter((one) => one.startsWith(value)))
  running = await app.listen({ http: { port: 0 } })
  url = running.url ?? ''
})

afterAll(async () => {
  await running.close()
  rmSync(folder, { recursive: true })
})

async function echoed(words: readonly string[], stdin = ''): Promise<unknown> {
  const { stdout, stderr, code } = await line(['call', url, 'echo', ...words], { stdin, cwd: folder })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(JSON.parse(stdout).content[0].text)
}

describe('call', () => {
  it('reads arguments as the schema of the tool wants them', async () => {
    const words = [
      'text=7',
      'count=7',
      'on=yes',
      'tags=a,b',
      'tags=c',
      'sizes=[1,2]',
      'place.x=1.5',
      'either=null',
    ]
    expect(await echoed(words)).toEqual({
      text: '7',
      count: 7,
      on: true,
      tags: ['a', 'b', 'c'],
      sizes: [1, 2],
      place: { x: 1.5 },
      either: null,
    })
  })

  it('takes objects with commas for lists, and members with dots and colons in their names', async () => {
    const words = ['text=x', 'list={"a":1,"b":2}', 'list={"c":3}', 'a.b=1', 'ns:key=2', 'place.x=3']
    expect(await echoed(words)).toEqual({
      text: 'x',
      list: [{ a: 1, b: 2 }, { c: 3 }],
      'a.b': 1,
      'ns:key': 2,
      place: { x: 3 },
    })
    expect(await echoed(['text=a=b', 'a.b:=5', 'ns:key:=6'])).toEqual({ text: 'a=b', 'a.b': 5, 'ns:key': 6 })
  })

  it('names the first arguments of a tool that has many', async () => {
    const { stderr } = await line(['call', url, 'echo', 'text=a', 'nothing=1'])
    expect(stderr).toContain('Its arguments are text, count')
    expect(stderr).toContain(', …')
    expect(stderr).not.toContain('other99')
  })

  it('takes arguments from files, from stdin, and as JSON', async () => {
    writeFileSync(join(folder, 'text.txt'), 'from a file')
    writeFileSync(join(folder, 'all.json'), '{"text":"all","count":1}')
    expect(await echoed(['text=@text.txt'])).toEqual({ text: 'from a file' })
    expect(await echoed(['text=\\@ada'])).toEqual({ text: '@ada' })
    // Programs end a file with a line end, which belongs to a text and to nothing else.
    writeFileSync(join(folder, 'two.txt'), '2\n')
    expect(await echoed(['text=@two.txt', 'count=@two.txt'])).toEqual({ text: '2\n', count: 2 })
    expect(await echoed(['@all.json', 'count=2'])).toEqual({ text: 'all', count: 2 })
    expect(await echoed(['-'], '{"text":"piped"}')).toEqual({ text: 'piped' })
    expect(await echoed(['--input', '{"text":"x"}', 'tags:=["y"]'])).toEqual({ text: 'x', tags: ['y'] })
  })

  it.each([
    [['ecoh'], 'did you mean "echo"?'],
    [['echo'], '"text" is missing'],
    [['echo', 'text=a', 'cuont=1'], 'did you mean "count"?'],
    [['echo', 'text=a', 'count=many'], 'count must be integer'],
    [['echo', 'text'], '"text" is not an argument'],
    [['echo', 'text=@absent.txt'], 'absent.txt cannot be read'],
    [['echo', '--input', '{'], '--input is not valid JSON'],
    [['echo', '--input', '[]'], '--input is not a JSON object'],
    [[], 'the tool is missing'],
  ])('rejects %j and says what to do', async (words, text) => {
    const { code, stdout, stderr } = await line(['call', url, ...words], { cwd: folder })
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toEqual({ error: expect.objectContaining({ exit: 2 }) })
    expect(stderr).toContain(text)
    expect(stderr).toContain('fix: ')
  })

  it('sets members of any name as data', async () => {
    const { stderr } = await line(['call', url, 'echo', 'text=a', '__proto__.x=1'])
    expect(stderr).toContain('the tool has no argument "__proto__"')
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  it('saves images, under names that it chooses itself', async () => {
    const { stdout } = await line(['call', url, 'picture', '--save', 'out'], { terminal: true, cwd: folder })
    expect(stdout).toContain('saved as out/image-1.png')
    expect(readFileSync(join(folder, 'out/image-1.png')).toString('base64')).toBe(PIXEL)
    const again = await line(['call', url, 'picture', '--save', 'out'], { terminal: true, cwd: folder })
    expect(again.stdout).toContain('image-2.png')
  })

  it('shows images on a terminal that can', async () => {
    const env = { TERM_PROGRAM: 'iTerm.app' }
    const { stdout } = await line(['call', url, 'picture'], { terminal: true, env })
    expect(stdout).toContain(`inline=1;size=${Buffer.from(PIXEL, 'base64').length}:${PIXEL}`)
  })

  it('ends with 5 if the tool failed, and escapes its text', async () => {
    const { code, stdout } = await line(['call', url, 'fails'], { terminal: true })
    expect(code).toBe(5)
    expect(stdout).toContain('no \\u001b[31mluck')
  })

  it.each([true, false])(
    'says on stderr that a tool failed, and what to do (terminal: %s)',
    async (terminal) => {
      const failed = await line(['call', url, 'fails'], { terminal })
      expect(failed.stderr).toBe(
        'error: the tool "fails" failed\nfix: The tool reported this error itself: its text says why.\n',
      )
      const rejected = await line(['call', url, 'exact', 'priority=urgent'], { terminal })
      expect(rejected).toMatchObject({
        code: 5,
        stderr:
          'error: the tool "exact" rejected its arguments\nfix: The tool is exact(priority: "low"|"high", id?: integer).\n',
      })
      expect(rejected.stdout).toContain('priority: expected one of')
    },
  )

  it('shows progress on a terminal only', async () => {
    const shown = await line(['call', url, 'slow'], { terminal: true })
    expect(shown.stderr).toContain('50 % half\\u001b[2J way')
    const piped = await line(['call', url, 'slow'])
    expect(piped.stderr).toBe('')
  })
})

describe('read, prompt, complete and watch', () => {
  it('prints a resource', async () => {
    const { stdout } = await line(['read', url, 'notes://42'], { terminal: true })
    expect(stdout).toBe('note 42\\u0007\n')
    expect(JSON.parse((await line(['read', url, 'notes://42'])).stdout).contents[0].text).toBe(
      'note 42\u0007',
    )
    const wrong = await line(['read', url, 'other://1'])
    expect(wrong.code).toBe(6)
  })

  it('prints a prompt', async () => {
    const { stdout } = await line(['prompt', url, 'review', 'language=Go'], { terminal: true })
    expect(stdout).toContain('user: Review Go')
    expect((await line(['prompt', url, 'review', 'language'])).stderr).toContain(
      '"language" is not an argument',
    )
  })

  it('suggests values', async () => {
    const { stdout } = await line(['complete', url, 'review', 'language=Ty'], { terminal: true })
    expect(stdout).toBe('TypeScript\n')
    const none = await line(['complete', url, 'review', 'language=X'], { terminal: true })
    expect(none.stdout).toBe('There are no suggestions.\n')
  })

  it('prints changes until it has seen enough', async () => {
    const app = createServer({ name: 'changing', version: '1.0.0' })
    app.tool('one', {}, () => '1')
    const changing = await app.listen({ http: { port: 0 } })
    let count = 0
    const timer = setInterval(() => {
      // Every second announcement is of a list that is the same.
      if (++count % 2 === 0) app.tool(`tool-${count}`, {}, () => '')
      else app.changed('tools')
    }, 50)
    try {
      const { code, stdout } = await line(['watch', changing.url ?? '', '--count', '2'])
      expect(code).toBe(0)
      expect(
        stdout
          .trim()
          .split('\n')
          .map((one) => JSON.parse(one)),
      ).toEqual([{ kind: 'tools' }, { kind: 'tools' }])
    } finally {
      clearInterval(timer)
      await changing.close()
    }
    expect((await line(['watch', url, '--count', '0'])).stderr).toContain(
      '--count must be a whole number from 1',
    )
  })

  it('ends when the user interrupts', async () => {
    const controller = new AbortController()
    const watching = line(['watch', url], { signal: controller.signal })
    setTimeout(() => controller.abort(), 300)
    expect((await watching).code).toBe(0)
  })
})
