import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { measuredLine, plainServer, type Measured } from './plain-server.ts'

/** How much more memory a command may take with a hostile program than with a good one. */
const ROOM = 150_000_000

let folder = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pierhead-child-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const run = (words: readonly string[], server: string): Promise<Measured> =>
  measuredLine([...words, '--', process.execPath, server], { cwd: folder, env: { HOME: folder } })

/** How often the program was started, if it notes that. */
function starts(): number {
  const file = join(folder, 'starts')
  return existsSync(file) ? readFileSync(file, 'utf8').length : 0
}

const NOTED = `import { appendFileSync } from 'node:fs'\nappendFileSync('starts', 'x')\n`

describe('a program that misbehaves', () => {
  it('does not fill the memory with 1 GB on stderr, whether it is shown or not [P.command-child]', async () => {
    const quiet = await run(['ping'], plainServer(folder))
    const flood = `
      import { writeSync } from 'node:fs'
      const chunk = Buffer.alloc(1_000_000, 'noise\\u001b[31m\\n')
      const write = (rest) => {
        try { rest = rest.subarray(writeSync(2, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
        if (rest.length > 0) write(rest)
      }
      for (let i = 0; i < 1000; i++) write(chunk)
    `
    for (const words of [['ping'], ['ping', '--verbose'], ['doctor']]) {
      const { code, memory, stdout, stderr } = await run(
        [...words, '--timeout', '2m'],
        plainServer(folder, flood),
      )
      expect(code).toBe(0)
      expect(memory).toBeLessThan(quiet.memory + ROOM)
      expect(stdout + stderr).not.toContain('\u001b')
      expect(stderr.includes('bytes were omitted')).toBe(words.includes('--verbose'))
    }
  }, 300_000)

  it('is not started again and again if it ends at once [P.command-child]', async () => {
    const server = plainServer(folder, `${NOTED}console.error('no database'); process.exit(3)`)
    const { code, stderr, memory } = await run(['ping', '--count', '100'], server)
    expect(code).toBe(4)
    expect(stderr).toContain('no database')
    expect(stderr).toContain('3')
    expect(starts()).toBeLessThan(5)
    expect(memory).toBeGreaterThan(0)
  })

  it('is not started again for each of 100 requests at which it ends [P.command-child]', async () => {
    const server = plainServer(
      folder,
      `${NOTED}process.stdin.on('data', (text) => { if (String(text).includes('"ping"')) process.exit(3) })`,
    )
    const { code, stderr } = await run(
      ['ping', '--count', '100', '--timeout', '5s', '--total', '20s'],
      server,
    )
    expect([4, 6, 7]).toContain(code)
    expect(stderr).toContain('error:')
    expect(starts()).toBeLessThan(20)
  }, 60_000)

  it('does not make the command wait for ever if it never reads [P.command-child]', async () => {
    const server = join(folder, 'deaf.mjs')
    writeFileSync(server, 'setInterval(() => undefined, 1000)')
    const { code, stderr } = await run(['ping', '--timeout', '1s'], server)
    expect(code).toBe(7)
    expect(stderr).toContain('error:')
  })

  it('does not fill the memory if it stops to read [P.command-child]', async () => {
    const quiet = await run(['ping'], plainServer(folder))
    // It answers until the tools are listed.
    const deaf = `process.stdin.on('data', (text) => { if (String(text).includes('"tools/list"')) setTimeout(() => process.stdin.pause(), 50) })`
    writeFileSync(join(folder, 'large.json'), JSON.stringify({ text: 'x'.repeat(9_000_000) }))
    const { code, memory } = await run(
      ['call', 'show', '@large.json', '--timeout', '2s', '--total', '5s'],
      plainServer(folder, `${deaf}\nconst wait = () => { for (;;); }\nsetTimeout(wait, 1500)`),
    )
    expect([4, 6, 7]).toContain(code)
    expect(memory).toBeLessThan(quiet.memory + ROOM)
  })

  it('does not fill the memory with a line that never ends [P.command-child]', async () => {
    const quiet = await run(['ping'], plainServer(folder))
    const server = join(folder, 'endless.mjs')
    // It stops after 1 GB, so that a command that reads everything is found by its memory.
    writeFileSync(
      server,
      `let left = 15_300
       const chunk = 'x'.repeat(65_536)
       const flood = () => {
         while (left-- > 0) if (!process.stdout.write(chunk)) return void process.stdout.once('drain', flood)
       }
       process.stdin.once('data', flood)`,
    )
    for (const words of [['ping'], ['doctor']]) {
      const { code, memory, stdout, stderr } = await run([...words, '--timeout', '15s'], server)
      expect([4, 6, 7, 8]).toContain(code)
      expect(memory).toBeLessThan(quiet.memory + ROOM)
      expect(stdout.length + stderr.length).toBeLessThan(20_000)
      expect(stdout + stderr).toContain('its stdout contains no messages, only: xxx')
    }
  }, 300_000)
})
