import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TRANSPORTS as BY_CLIENT } from '../../test/client/transports.ts'
import { TRANSPORTS as TESTED } from '../../test/harness/connection.ts'
import { pages } from '../pages.ts'
import { TRANSPORTS } from './transports.ts'

test('the table of transports lists exactly those that the scenarios run over [S2-10.1-1] [S2-15-5]', () => {
  const listed = Object.values(TRANSPORTS).flatMap(({ scenarios }) => scenarios)
  expect(listed.toSorted()).toEqual(TESTED.toSorted())
  expect(BY_CLIENT.toSorted()).toEqual(TESTED.toSorted())
  for (const transport of ['stdio', 'tcp', 'http', 'ws', 'sse'] as const) expect(TESTED).toContain(transport)
})

test('the page lists the use, framing, firewall behaviour and multiplexing of each transport [S2-10.1-1] [S2-15-5]', () => {
  const text = pages().get('transports.md') ?? ''
  const headings = ['Use it for', 'Framing', 'Firewalls', 'Multiplexing'].map((words) => `| ${words} |`)
  for (const heading of headings) expect(text).toContain(heading)
  for (const [name, { use, framing, firewalls, multiplexing }] of Object.entries(TRANSPORTS)) {
    expect(text).toContain(`| ${use} |`)
    expect(text).toContain(`| ${name} | ${framing} | ${firewalls} | ${multiplexing} |`)
  }
  const uses = ['stdio', 'TCP', 'Streamable HTTP', 'WebSocket'].map((name) => TRANSPORTS[name]?.use)
  expect(uses).toEqual([
    'A program on the same machine, started by the client',
    'Services in one network, at the highest rates',
    'Servers for many users, behind proxies and load balancers, with or without sessions',
    'Live streams, push notifications and browsers',
  ])
})

test('each transport has its own folder, and the layers below have theirs [S2-14-1] [S2-14-2] [S2-14-3]', () => {
  const folders = ['stdio', 'http', 'sse', 'ws', 'tcp', 'memory'].map((name) => `transport/${name}`)
  const parts = ['resources', 'tools', 'prompts', 'sampling', 'completion'].map((name) => `server/${name}.ts`)
  const codec = ['wire/message.ts', 'wire/encode.ts', 'wire/lines.ts', 'wire/scan.ts']
  const tables = ['methods', 'revisions', 'meta', 'limits'].map((name) => `protocol/${name}.ts`)
  const paths = [...codec, ...tables, 'errors/error.ts', ...folders, ...parts]
  expect(paths.filter((path) => !existsSync(new URL(`../../src/${path}`, import.meta.url)))).toEqual([])
})
