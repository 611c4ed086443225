import { checkEveryone } from './everyone.ts'

checkEveryone('stdio', ['official v1', 'official v2', 'tmcp', 'fastmcp'])
