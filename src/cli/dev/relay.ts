import type { ExitCode } from '../exit.ts'
import type { ParentOptions } from './parent.ts'
export async function relayWithReloads(_options: ParentOptions): Promise<ExitCode> { return 0 }
