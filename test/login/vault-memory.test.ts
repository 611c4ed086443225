import { memoryVault } from '../../src/auth/client/memory-vault.ts'
import { vaultContract } from './vault-contract.ts'

vaultContract('memoryVault', memoryVault)
