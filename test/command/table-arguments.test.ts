import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { line } from './line.ts'
import { talking, WORDS, WRONG } from './table.ts'

let cwd = ''

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pierhead-table-'))
})

afterAll(() => rmSync(cwd, { recursive: true }))

it('the tables of the tests have every command', () => {
  expect(Object.keys(WRONG)).toEqual(COMMANDS.map(({ name }) => name))
  expect(Object.keys(WORDS).toSorted()).toEqual(talking().toSorted())
})

describe.each(COMMANDS.map(({ name }) => name))('pierhead %s', (name) => {
  const env = { HOME: '/nonexistent', USERPROFILE: '/nonexistent' }

  it('shows its help', async () => {
    const { code, stdout, stderr } = await line([...name.split(' '), '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: pierhead ${name}`)
    expect(stdout).toContain('Examples:')
  })

  it('rejects an option that does not exist', async () => {
    const { code, stderr } = await line([...name.split(' '), '--no-such-option'], { cwd, env })
    expect(code).toBe(2)
    expect(stderr).toContain('--no-such-option')
    expect(stderr).toContain('fix: ')
  })

  it('rejects a wrong argument', async () => {
    const [args, text] = WRONG[name] ?? [[], '']
    const { code, stderr } = await line(args, { cwd, env })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
    expect(stderr).toContain('fix: ')
  })
})
