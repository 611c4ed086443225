import { REVISIONS } from '../protocol/revisions.ts'
import type { Option } from './command.ts'

/** The options of every command. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  { flags: '--json', summary: 'print JSON, which is the default in a pipe' },
  { flags: '--no-json', summary: 'print text for people, also in a pipe' },
  { flags: '-q, --quiet', summary: 'print no progress and no notes' },
  { flags: '--no-color', summary: 'print no colours; NO_COLOR does the same' },
  { flags: '--verbose', summary: 'show what the server prints, warnings and the causes of errors' },
]

/** The options of every command that talks to a server. */
export const TARGET_OPTIONS: readonly Option[] = [
  { flags: '-s, --server <target>', summary: 'the target, instead of the first word' },
  { flags: '--server-url <url>', summary: 'the same, for a URL' },
  { flags: '--config <file>', summary: 'the mcp.json file that has the target' },
  { flags: '-H, --header <header>', summary: "a header for every request: 'Name: value'", isMany: true },
  { flags: '-e, --env <variable>', summary: 'NAME=value for a program, or NAME to pass it on', isMany: true },
  {
    flags: '--inherit <which>',
    summary: 'the variables that a program gets',
    choices: ['none', 'safe', 'all'],
  },
  { flags: '--revision <date>', summary: 'the only protocol revision to accept', choices: REVISIONS },
  { flags: '-t, --timeout <time>', summary: 'how long to wait for an answer, such as 20s or 2m (60s)' },
  {
    flags: '--total <time>',
    summary: 'how long the whole command may take; without it, each request may take 5m',
  },
  {
    flags: '--framing <name>',
    summary: 'how a TCP or Unix socket separates messages',
    choices: ['lines', 'length-prefix'],
  },
  { flags: '--stored-auth-only', summary: 'use only stored logins, and never open a browser' },
]
