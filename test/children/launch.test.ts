import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { open, program, type Launch } from './open.ts'

let folder: string

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'launch-')))
  symlinkSync(process.execPath, join(folder, 'node here'))
  symlinkSync(process.execPath, join(folder, 'only-here'))
  writeFileSync(join(folder, 'plain.txt'), 'not a program')
  mkdirSync(join(folder, 'directory'))
  chmodSync(join(folder, 'plain.txt'), 0o644)
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

/** What a server sees of its start. */
async function facts(options: Launch): Promise<Record<string, unknown>> {
  const { line, result } = await open(options)
  try {
    return await result('facts')
  } finally {
    await line.close()
  }
}

const environment = async (options: Launch): Promise<Record<string, string>> =>
  (await facts(options))['env'] as Record<string, string>

test('arguments reach the server letter by letter: no shell ever sees them', async () => {
  const words = [
    'two words',
    '; touch injected',
    '$(touch injected)',
    '`touch injected`',
    '"double" \'single\'',
    '&& exit | cat > x',
    'line\nbreak',
    '*',
    '%PATH%',
    '-leading',
    '',
    'ü→😀',
    'back\\slash\\',
  ]
  expect((await facts({ args: [program('server.mjs'), ...words], cwd: folder }))['argv']).toEqual(words)
})

test('a command with spaces in its name is one program', async () => {
  expect(await facts({ command: join(folder, 'node here'), cwd: folder })).toMatchObject({
    cwd: folder,
    argv: [],
  })
})

test('a relative path starts from the working directory of the server', async () => {
  expect(await facts({ command: './node here', cwd: folder })).toMatchObject({ cwd: folder })
})

test('a command without a path is looked up in PATH, which may be given', async () => {
  expect(await facts({ command: 'only-here', env: { PATH: folder } })).toMatchObject({
    env: { PATH: folder },
  })
})

test('the current directory counts only when it is named', async () => {
  for (const PATH of ['.', '', ':', './', `.:/nowhere`]) {
    const opening = open({ command: 'only-here', cwd: folder, env: { PATH } })
    await expect(opening).rejects.toMatchObject({ kind: 'connect_failed' })
  }
})

test.each([
  [
    { command: 'no-such-program', env: { PATH: '/a:/b' } },
    'cannot connect to the command "no-such-program": it was not found in PATH: /a, /b',
  ],
  [
    { command: './missing', cwd: '/' },
    'cannot connect to the command "./missing": the file /missing does not exist',
  ],
  [
    { command: 'node server.js', env: { PATH: '/a' } },
    'cannot connect to the command "node …": it was not found in PATH: /a; put arguments in args, not in the command',
  ],
  [
    { command: 'x; touch injected', env: { PATH: '/a' } },
    'cannot connect to the command "x; …": it was not found in PATH: /a; put arguments in args, not in the command',
  ],
  [
    { cwd: '/no/such/place' },
    `cannot connect to the command "${process.execPath}": the working directory /no/such/place does not exist`,
  ],
])('a start that cannot work says what is missing and where: %o', async (options, message) => {
  const hint: unknown = expect.stringMatching(/^Correct what the message names/)
  await expect(open(options)).rejects.toMatchObject({
    kind: 'connect_failed',
    message,
    retryable: false,
    hint,
  })
})

test('what is found but may not be executed is named', async () => {
  const blocked = /plain\.txt is not an executable file/
  await expect(open({ command: 'plain.txt', env: { PATH: folder } })).rejects.toThrow(blocked)
  await expect(open({ command: './plain.txt', cwd: folder })).rejects.toThrow(blocked)
  await expect(open({ command: './directory', cwd: folder })).rejects.toThrow(
    /directory is not an executable file/,
  )
})

test('a program whose interpreter is missing is a failed connection', async () => {
  const file = join(folder, 'nonsense')
  writeFileSync(file, '#!/no/such/interpreter\n', { mode: 0o755 })
  await expect(open({ command: file })).rejects.toMatchObject({
    kind: 'connect_failed',
    message: expect.stringMatching(
      /nonsense needs a file that does not exist, such as the interpreter named in its first line$/,
    ),
    cause: { code: 'ENOENT' },
  })
})

test.each([
  [{ command: '' }],
  [{ command: '  ' }],
  [{ command: 'a\0b' }],
  [{ args: ['a\0b'] }],
  [{ args: [5 as unknown as string] }],
  [{ cwd: 'a\0b' }],
  [{ inherit: 'some' as 'all' }],
  [{ env: { 'A=B': 'x' } }],
  [{ env: { A: 'x\0y' } }],
])('an option that makes no sense is refused: %j', async (options) => {
  await expect(open(options)).rejects.toMatchObject({ kind: 'bad_option' })
})

test('a server gets only what is harmless and needed of our environment', async () => {
  vi.stubEnv('SECRET_TOKEN', 'x')
  vi.stubEnv('NODE_OPTIONS', '--no-warnings')
  vi.stubEnv('LD_PRELOAD', '')
  vi.stubEnv('LC_ALL', 'C')
  vi.stubEnv('SHELL', '() { :; }; echo hello')
  const env = await environment({ env: { GREETING: 'hi', LANG: 'xx' } })
  expect(env).toMatchObject({ PATH: process.env['PATH'], LC_ALL: 'C', GREETING: 'hi', LANG: 'xx' })
  const allowed = /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TERM|TMPDIR|TZ|XDG_\w+|GREETING)$/
  expect(Object.keys(env).filter((name) => !allowed.test(name))).toEqual([])
})

test('inherit says how much of the environment a server gets', async () => {
  vi.stubEnv('SECRET_TOKEN', 'x')
  vi.stubEnv('NODE_OPTIONS', '--no-warnings')
  expect(await environment({ inherit: 'none', env: { A: '1' } })).toEqual({ A: '1' })
  const all = await environment({ inherit: 'all', env: { A: '1', HOME: undefined } })
  expect(all).toMatchObject({ SECRET_TOKEN: 'x', A: '1' })
  expect(all).not.toHaveProperty('NODE_OPTIONS')
  expect(all).not.toHaveProperty('HOME')
})

test('variables that make programs load code are left out, and that is noted, unless everything is inherited', async () => {
  const env = { NODE_OPTIONS: '--no-warnings', LD_PRELOAD: '', A: '1' }
  const { line, notes, result } = await open({ env })
  const seen = (await result('facts'))['env'] as Record<string, string>
  expect(seen['A']).toBe('1')
  expect(Object.keys(seen).filter((name) => name in env)).toEqual(['A'])
  expect(notes).toEqual([
    'stream: NODE_OPTIONS, LD_PRELOAD was not set for the server because it makes programs load code',
  ])
  await line.close()
  expect(await environment({ env, inherit: 'all' })).toMatchObject(env)
})

test('stderr can be ignored', async () => {
  const { line, notes, result } = await open({ stderr: 'ignore' })
  await result('complain', { text: 'quiet\n' })
  await line.close()
  expect(notes).toEqual([])
})

test('a server that ends at once, a hundred times, leaves nothing and says so each time', async () => {
  const ends = async (): Promise<string> => {
    const { down, line } = await open({ command: 'sh', args: ['-c', 'exit 9'] })
    const { message } = await down
    await line.close()
    return message
  }
  const before = process.listenerCount('exit')
  for (let round = 0; round < 10; round++) {
    const messages = await Promise.all(Array.from({ length: 10 }, ends))
    expect(new Set(messages)).toEqual(
      new Set(['cannot connect to the command "sh": the server exited with code 9']),
    )
  }
  expect(process.listenerCount('exit')).toBe(before)
})
