import { checkEveryone } from './everyone.ts'

checkEveryone('HTTP', ['official v1', 'official v2', 'tmcp', 'fastmcp'])
