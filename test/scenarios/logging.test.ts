import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import { LOG_LEVELS } from '../../src/protocol/log-levels.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const app = createServer({ name: 'logs', version: '1' })
  .tool('all', {}, (_, { log }) => {
    for (const level of LOG_LEVELS) log[level](`at ${level}`)
  })
  .tool('facts', {}, (_, { log }) => {
    log.warning('low', { depth: 2 })
    log.write('error', ['any', { data: true }], 'sonar')
  })
  .tool(
    'name',
    { input: { type: 'object', properties: { name: { type: 'string' } } } },
    ({ name }, { log }) => {
      log.emergency(String(name))
    },
  )
  .resource('a://b', {}, (_, { log }) => {
    log.error('reading')
    return 'x'
  })

const MESSAGE = 'notifications/message'

scenario(
  'the level that was set is kept to, for this session only [R185] [S2-9.4-9] [S4-14-6] [S2-13-S4]',
  app,
  async (client, _revision, { join }) => {
    const other = await join()
    for (const [at, level] of LOG_LEVELS.entries()) {
      client.notices.length = 0
      expect(await client.request('logging/setLevel', { level })).toEqual({})
      await client.call('all')
      expect(client.heard(MESSAGE)).toEqual(
        LOG_LEVELS.slice(at).map((one) => ({ level: one, data: `at ${one}` })),
      )
    }
    await other.call('all')
    expect(other.heard(MESSAGE).map(({ level }) => level)).toEqual(LOG_LEVELS.slice(1))
  },
  { until: '2025-11-25' },
)

scenario(
  'a level that does not exist is refused and changes nothing [R185] [R012]',
  app,
  async (client) => {
    await client.request('logging/setLevel', { level: 'emergency' })
    for (const level of ['loud', 'Error', 7, undefined, '__proto__']) {
      const error = await refusal(client.request('logging/setLevel', { level }))
      expect(error.code).toBe(-32602)
      expect(error.message).toBe(
        `invalid params for logging/setLevel: the log level must be one of ${LOG_LEVELS.join(', ')}`,
      )
    }
    await client.call('all')
    expect(client.heard(MESSAGE).map(({ level }) => level)).toEqual(['emergency'])
  },
  { until: '2025-11-25' },
)

scenario(
  'no log message is sent unless the request set a level, and then only at or above it [R186] [S2-9.4-9]',
  app,
  async (client) => {
    await client.call('all')
    expect(client.notices).toEqual([])
    await client.call('all', {}, { meta: { [META.logLevel]: 'alert' } })
    expect(client.heard(MESSAGE).map(({ level }) => level)).toEqual(['alert', 'emergency'])
    await client.call('all')
    expect(client.heard(MESSAGE)).toHaveLength(2)
    const { contents } = await client.get(
      'resources/read',
      { uri: 'a://b' },
      { meta: { [META.logLevel]: 'debug' } },
    )
    expect(contents).toHaveLength(1)
    expect(client.heard(MESSAGE).slice(2)).toEqual([{ level: 'error', data: 'reading' }])
  },
  { since: '2026-07-28' },
)

scenario(
  'log messages travel on the stream of their request, before its answer [R187] [R125]',
  app,
  async (client, _revision, { transport }) => {
    const meta = client.hasSession ? {} : { meta: { [META.logLevel]: 'emergency' } }
    if (client.hasSession) await client.request('logging/setLevel', { level: 'emergency' })
    await Promise.all([
      client.call('name', { name: 'a' }, { id: 'a', ...meta }),
      client.call('name', { name: 'b' }, { id: 'b', ...meta }),
    ])
    const carried = client.notices.map(({ carrier, params }) => [params['data'], carrier])
    const isStreamed = transport === 'http'
    expect(carried.toSorted(([one], [other]) => String(one).localeCompare(String(other)))).toEqual(
      ['a', 'b'].map((name) => [name, isStreamed ? `"${name}"` : undefined]),
    )
  },
)

scenario('a message carries what the handler gave and no more [S4-14-7] [R188]', app, async (client) => {
  await client.call('facts', {}, client.hasSession ? {} : { meta: { [META.logLevel]: 'debug' } })
  expect(client.heard(MESSAGE)).toEqual([
    { level: 'warning', data: { message: 'low', depth: 2 } },
    { level: 'error', logger: 'sonar', data: ['any', { data: true }] },
  ])
})
