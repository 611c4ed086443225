import { z } from 'zod'
import type { Mistake } from './mistake.ts'

/** Mistakes of a client with names and URIs. */
export const resources: readonly Mistake[] = [
  {
    wrote: "client.call('ehco')",
    make: async ({ server, client }) => (await client(server().tool('echo', {}, () => 'x'))).call('ehco'),
    problem: 'tool "ehco" does not exist',
    fix: 'did you mean "echo"?',
  },
  {
    wrote: "client.call('nothing like it')",
    make: async ({ server, client }) => (await client(server().tool('echo', {}, () => 'x'))).call('weather'),
    problem: 'tool "weather" does not exist',
    fix: 'List the tools first',
  },
  {
    wrote: "client.prompt('triag')",
    make: async ({ server, client }) =>
      (await client(server().prompt('triage', {}, () => 'x'))).prompt('triag'),
    problem: 'prompt "triag" does not exist',
    fix: 'did you mean "triage"?',
  },
  {
    wrote: "client.read('notes:/all')",
    make: async ({ server, client }) =>
      (await client(server().resource('notes://all', {}, () => 'x'))).read('notes:/all'),
    problem: 'resource "notes:/all" does not exist',
    fix: 'did you mean "notes://all"?',
  },
  {
    wrote: "client.watch({ resources: ['nope'] })",
    make: async ({ server, client }) =>
      (await client(server().resource('notes://all', {}, () => 'x')))
        .watch({ resources: ['nope'], signal: AbortSignal.timeout(2000) })
        .next(),
    problem: 'resource "nope" does not exist',
    fix: /List the resources|client\.resources\(\)/,
  },
  {
    wrote: "client.subscribe('nope', listener)",
    make: async ({ server, client }) =>
      (await client(server().resource('notes://all', {}, () => 'x'))).subscribe('nope', () => undefined),
    problem: 'resource "nope" does not exist',
    fix: /List the resources|client\.resources\(\)/,
  },
  {
    wrote: "client.watch({ resources: ['nope'] }) at 2025-11-25",
    make: async ({ server, client }) =>
      (
        await client(
          server().resource('notes://all', {}, () => 'x'),
          { revision: '2025-11-25' },
        )
      )
        .watch({ resources: ['nope'] })
        .next(),
    problem: 'resource "nope" does not exist',
    fix: /List the resources|client\.resources\(\)/,
  },
  {
    wrote: "client.complete('triage', …) for an argument that it lacks",
    make: async ({ server, client }) => {
      const app = server()
        .prompt('triage', { args: z.object({ id: z.string() }) }, () => 'x')
        .complete('triage', 'id', () => [])
      return (await client(app)).complete('triage', { name: 'no', value: '' })
    },
    problem: '"triage" has no argument "no"',
    fix: 'its arguments are id',
  },
  {
    wrote: 'client.prompts() of a server without prompts, then prompt()',
    make: async ({ server, client }) => (await client(server().tool('a', {}, () => 'x'))).prompt('x'),
    problem: 'needs the capability prompts, which this server does not offer',
    fix: /client\.supports\(|declared/,
  },
]
