import { CLIENT_LINE_RULES } from '../../src/validate/client-rules/lines.ts'
import type { ClientFault } from './client-fault.ts'
import { proveClient } from './prove-client.ts'

const FAULTS: readonly ClientFault[] = [
  {
    rule: 'R060',
    does: 'spreads messages over several lines',
    message: (message) => JSON.stringify(message, undefined, 2),
  },
  { rule: 'R062', does: 'writes a greeting', message: (message) => ['hello', message] },
  { rule: 'R063', does: 'sends SIGTERM first', quirk: 'kills programs' },
  { rule: 'R065', does: 'breaks on stderr', quirk: 'breaks on stderr' },
  { rule: 'R066', does: 'waits for a dead server', quirk: 'waits for a dead server' },
  { rule: 'R068', does: 'breaks on a blank line', quirk: 'breaks on a blank line' },
  { rule: 'R068', does: 'breaks on carriage returns', quirk: 'breaks on carriage returns' },
  { rule: 'R068', does: 'breaks on lines that are not JSON', quirk: 'breaks on bad lines' },
]

proveClient('Lines of clients', CLIENT_LINE_RULES, FAULTS)
