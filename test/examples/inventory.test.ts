import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  A_TOOL,
  applicable,
  EXAMPLES_RECORD,
  measureExamples,
  startHost,
  type ExampleResult,
} from '../../tools/conformance-examples.ts'
import { installSuite } from '../../tools/conformance-suite.ts'
import { nodeBinary } from '../../tools/nodes.ts'
import { inventoryText, readInventory, withInventory, type Inventory } from '../../tools/inventory.ts'

const { stages, examples } = readInventory()
const SERVERS = examples.flatMap(({ folder, servers }) => servers.map((server) => ({ folder, server })))
const ALONE = SERVERS.filter(({ server }) => server.start !== undefined)

describe('the inventory of the examples', () => {
  test('has every folder, each with a stage that is described [S4-0-1]', () => {
    const folders = readdirSync('examples', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(examples.map(({ folder }) => folder).toSorted()).toEqual(
      folders.map(({ name }) => name).toSorted(),
    )
    expect([...new Set(examples.map(({ stage }) => stage))]).toEqual(stages.map((_, i) => i + 1))
    const order = examples.map(({ stage }) => stage)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test('has every server, and says how it starts or what it needs [S4-0-1]', () => {
    const listed = SERVERS.map(({ folder, server }) => `${folder}/${server.file}`)
    expect(listed.filter((file) => !existsSync(`examples/${file}`))).toEqual([])
    expect(
      SERVERS.filter(({ server }) => (server.start === undefined) === (server.needs === undefined)),
    ).toEqual([])
    const programs = readdirSync('examples', { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => /(?:^|\/)server\.ts$/.test(file))
    expect(programs.filter((file) => !listed.includes(file))).toEqual([])
    expect(SERVERS.find(({ folder }) => folder === 'toolbox')?.server.tools).toBe(119)
  })

  test('is what the README shows [S4-0-1]', () => {
    const readme = readFileSync('examples/README.md', 'utf8')
    expect(withInventory(readme, readInventory())).toBe(readme)
    const planted: Inventory = {
      stages: ['Begin'],
      examples: [{ folder: 'new', stage: 1, shows: 'x', servers: [] }],
    }
    expect(withInventory(readme, planted)).toContain('| [new](new) | 1 ')
    expect(inventoryText(planted)).toMatch(/^1 examples with 0 servers\./)
    expect(() => withInventory('# Examples', planted)).toThrow('marks')
  })
})

describe('the servers of the examples', () => {
  const SLOW = { timeout: 240_000 }

  test('start by themselves, and list as many tools as the inventory says [S4-0-4]', SLOW, async () => {
    const host = await startHost()
    try {
      const found: unknown[] = []
      for (const { folder, server } of ALONE) {
        const { tools } = await host.start(folder, server)
        found.push([`${folder}/${server.file}`, tools])
      }
      expect(found).toEqual(ALONE.map(({ folder, server }) => [`${folder}/${server.file}`, server.tools]))
      const missing = { file: 'missing.ts', tools: 0, start: 'listens' } as const
      await expect(host.start('weather', missing)).rejects.toThrow('weather/missing.ts did not start')
    } finally {
      await host.close()
    }
  })

  test('passed all official scenarios that apply to them in the recorded run [S4-0-4]', () => {
    const results = JSON.parse(readFileSync(EXAMPLES_RECORD, 'utf8')) as readonly ExampleResult[]
    expect(results.map(({ server }) => server)).toEqual(
      ALONE.map(({ folder, server }) => `${folder}/${server.file}`),
    )
    expect(results.filter(({ applies, passed }) => passed < applies || applies < 10)).toEqual([])
    const total = results.reduce((sum, { applies }) => sum + applies, 0)
    console.log(`${results.length} example servers: ${total} scenarios apply, and all pass`)
  })

  test('pass them now, as the smallest example shows [S4-0-4]', { timeout: 900_000 }, async () => {
    const suite = installSuite(await nodeBinary(22))
    const [weather] = await measureExamples(suite, ['2025-11-25', '2026-07-28'], ['weather'])
    expect(weather).toEqual({ server: 'weather/server.ts', applies: 13, passed: 13 })
  })

  test('a scenario applies if the server offers what it needs, and it calls no tools of its own', () => {
    const all = [
      'ping',
      'tools-list',
      'prompts-list',
      'http-header-validation',
      'tools-call-image',
      'constructor',
    ]
    expect(applicable(all, [])).toEqual(['ping'])
    expect(applicable(all, ['tools', A_TOOL])).toEqual(['ping', 'tools-list', 'http-header-validation'])
    expect(applicable(all, ['tools', 'prompts'])).toEqual(['ping', 'tools-list', 'prompts-list'])
  })
})
