import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { line } from './line.ts'

/** What bash suggests for the last word of a command line. */
async function suggested(words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await line(['completion', 'bash'])
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const script = `${stdout}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _pierhead; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout: text, status } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
  expect(status).toBe(0)
  return text.split('\n').filter((word) => word !== '')
}

describe('completion', () => {
  it('suggests commands, then options', async () => {
    expect(await suggested(['pierhead', ''])).toEqual([
      ...new Set(COMMANDS.map(({ name }) => name.split(' ')[0])),
    ])
    expect(await suggested(['pierhead', 'comple'])).toEqual(['complete', 'completion'])
    expect(await suggested(['pierhead', 'call', '--in'])).toEqual(['--input', '--inherit'])
    expect(await suggested(['pierhead', 'call', 'server.ts', 'add', '--sav'])).toEqual(['--save'])
  })

  it.each([
    [
      ['add', ''],
      ['tool', 'resource', 'prompt'],
    ],
    [['add', 'pro'], ['prompt']],
    [['completion', 'z'], ['zsh']],
    [
      ['create', 'films', '--template', ''],
      ['minimal', 'http', 'tasks', 'client'],
    ],
    [['install', 'server.ts', '-c', 'cur'], ['cursor']],
    [['call', '--inherit', 's'], ['safe']],
    [['list', 'resour'], ['resources']],
    [['list', 'server.ts', 'pro'], ['prompts']],
    [['list', 'package.js'], ['package.json']],
    [['info', '--revision', '2026'], ['2026-07-28']],
    [['info', '--framing', 'le'], ['length-prefix']],
    [['watch', '--log', 'crit'], ['critical']],
    [['tasks', 'list', '--status', 'comp'], ['completed']],
  ])('suggests fixed values: %j', async (words, values) => {
    expect(await suggested(['pierhead', ...words])).toEqual(values)
  })

  it('suggests fixed values in fish', async () => {
    const { stdout } = await line(['completion', 'fish'])
    expect(stdout).toMatch(/from create' -l template -x -a 'minimal http tasks client'/)
    expect(stdout).toContain("-n '__fish_seen_subcommand_from add' -f -a 'tool resource prompt'")
  })

  it('knows three shells, and says so', async () => {
    expect((await line(['completion', 'fish'])).stdout).toContain("-l save -d 'save images")
    expect((await line(['completion', 'zsh'])).stdout).toContain('#compdef pierhead mcp')
    const wrong = await line(['completion', 'tcsh'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('The shells are bash, zsh, fish.')
  })
})
