import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { ensureProgram } from '../../tools/programs.ts'
import { bundle } from '../harness/bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-keyring-'))
// In the repository, where the program finds the package of the keyring.
const programs = join(import.meta.dirname, '../../.cache')
mkdirSync(programs, { recursive: true })
const programFolder = mkdtempSync(join(programs, 'keyring-'))
afterAll(() => {
  for (const one of [folder, programFolder]) rmSync(one, { recursive: true, force: true })
})
const PROGRAM = bundle(new URL('keyring-program.ts', import.meta.url), join(programFolder, 'program.mjs'))
const SESSION = ensureProgram('dbus-run-session')
const DAEMON = ensureProgram('gnome-keyring-daemon')
const run = promisify(execFile)

interface Outcome {
  readonly token?: string | null
  readonly kind?: string
  readonly message?: string
  readonly warnings: readonly string[]
}

/** The home folder of one user, with the file of a vault and that of its fallback. */
function newHome(): { readonly home: string; readonly path: string; readonly fallback: string } {
  const home = mkdtempSync(join(folder, 'home-'))
  mkdirSync(join(home, 'run'), { mode: 0o700 })
  return { home, path: join(home, 'keyring.json'), fallback: join(home, 'plain.json') }
}

function environment(home: string): NodeJS.ProcessEnv {
  const { DBUS_SESSION_BUS_ADDRESS: _, DISPLAY: __, ...rest } = process.env
  return { ...rest, HOME: home, XDG_RUNTIME_DIR: join(home, 'run') }
}

/** Runs the program with each list of arguments in one desktop session, whose keyring the user opens with a password or not. */
async function inSession(
  home: string,
  password: string | undefined,
  ...calls: readonly (readonly string[])[]
): Promise<readonly Outcome[]> {
  const opening =
    password === undefined
      ? ''
      : `printf %s '${password}' | "$DAEMON" --unlock --components=secrets >/dev/null; `
  const steps = calls.map((args) => `"$NODE" "$PROGRAM" ${args.map((arg) => `'${arg}'`).join(' ')}`)
  const env = { ...environment(home), DAEMON, PROGRAM, NODE: process.execPath }
  const { stdout } = await run(SESSION, ['--', 'sh', '-c', `${opening}${steps.join('; ')}`], {
    env,
    timeout: 60_000,
  })
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Outcome)
}

test('the keyring of a desktop keeps the key for later processes and sessions of its user', async () => {
  const { home, path } = newHome()
  expect(await inSession(home, 'open', ['write', path], ['read', path])).toEqual([
    { token: 'secret-token', warnings: [] },
    { token: 'secret-token', warnings: [] },
  ])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(Buffer.from(readFileSync(path, 'utf8'), 'base64url').toString('latin1')).not.toContain(
    'secret-token',
  )
  expect(await inSession(home, 'open', ['read', path])).toEqual([{ token: 'secret-token', warnings: [] }])
}, 60_000)

test('a keyring that nobody opens is an error, and the fallback stays empty', async () => {
  const { home, path, fallback } = newHome()
  const [outcome] = await inSession(home, undefined, ['write', path, fallback])
  expect(outcome).toMatchObject({ kind: 'keyring_unavailable', warnings: [] })
  expect(existsSync(fallback)).toBe(false)
}, 60_000)

test('without a desktop session, the fallback keeps the credentials, with a warning', async () => {
  const { home, path, fallback } = newHome()
  const { stdout } = await run(process.execPath, [PROGRAM, 'write', path, fallback], {
    env: environment(home),
  })
  expect(JSON.parse(stdout)).toEqual({
    token: 'secret-token',
    warnings: [expect.stringContaining('so credentials are kept in fileVault')],
  })
  expect(existsSync(path)).toBe(false)
  const alone = await run(process.execPath, [PROGRAM, 'read', path], { env: environment(home) })
  expect(JSON.parse(alone.stdout)).toMatchObject({ kind: 'keyring_unavailable', warnings: [] })
})
