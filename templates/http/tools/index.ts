import { erase, whoami } from './notes.ts'

export default { whoami, erase }
