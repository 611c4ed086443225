import { join } from 'node:path'
import type { Tool } from 'pierhead/client'
import { describe, expect, it } from 'vitest'
import { testGenerated, type Subject } from '../../src/cli/tool-tests.ts'
import { line } from './line.ts'

const SERVER = join(import.meta.dirname, 'hostile-amounts-server.ts')
const LIST = ['--', process.execPath, '--import', 'tsx', SERVER, 'nested', '2000']

const quietly = (): Promise<void> => Promise.resolve()

describe('tools for which no inputs can be made', () => {
  it('do not outlast --total', async () => {
    const { code, stderr } = await line(['test', '--generate', '--all', '--total', '4s', ...LIST])
    expect(stderr).toContain('the command was not done in 4s')
    expect(code).toBe(7)
  })

  const tools = Array.from({ length: 50 }, (_, i): Tool => ({
    name: `t${i}`,
    inputSchema: { type: 'object', required: ['a'] },
  }))
  const calls: string[] = []
  const client = {
    call(name: string) {
      calls.push(name)
      return Promise.resolve({})
    },
  } as unknown as Subject['client']

  it('share the time for making them', async () => {
    const { signal } = new AbortController()
    const all = await testGenerated({ client, tools, signal }, true, quietly, 60_000)
    expect(all.unmade).toEqual([])
    expect(new Set(calls).size).toBe(50)
    const none = await testGenerated({ client, tools, signal }, true, quietly, 0)
    expect(none.unmade).toHaveLength(50)
    expect(none.unmade[0]).toEqual({
      tool: 't0',
      count: 0,
      problem: 'making inputs for the tools before it took too long; name it to test it alone',
    })
  })

  it('do not outlast Ctrl-C', async () => {
    const controller = new AbortController()
    const unlikely = tools.map((tool): Tool => ({
      ...tool,
      inputSchema: { type: 'object', minProperties: 1 },
    }))
    const testing = testGenerated({ client, tools: unlikely, signal: controller.signal }, true, quietly)
    setImmediate(() => controller.abort(new Error('left')))
    await expect(testing).rejects.toThrow('left')
  })
})
