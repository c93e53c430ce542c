/**
 * Migrates types of the SDK that have another name in Edgewise, or no name at all.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'

/** The types of `edgewise/server`, by their names in the SDK. A second name is the type argument of the first. */
const serverTypes: Readonly<Record<string, readonly string[]>> = {
  McpServer: ['Server'],
  RequestHandlerExtra: ['Context'],
  ServerContext: ['Context'],
  RegisteredTool: ['ToolRegistration'],
  RegisteredPrompt: ['PromptRegistration'],
  RegisteredResource: ['ResourceRegistration', 'ResourceOptions'],
  RegisteredResourceTemplate: ['ResourceRegistration', 'ResourceTemplateOptions'],
}

/** The types of the parameters of requests in `edgewise`, by the name of the request's type in the SDK. */
const parameters: Readonly<Record<string, string>> = {
  CreateMessageRequest: 'CreateMessageParams',
  ElicitRequest: 'ElicitParams',
  CallToolRequest: 'CallToolParams',
  GetPromptRequest: 'GetPromptParams',
  ReadResourceRequest: 'ReadResourceParams',
}

/** The types without a name in Edgewise, each with the text that replaces it. */
const unnamed: Readonly<Record<string, string>> = {
  Variables: '{ readonly [name: string]: string | string[] | undefined }',
  CompleteResourceTemplateCallback:
    '(value: string, context?: { arguments?: { [name: string]: string } }) => string[] | Promise<string[]>',
}

/** Migrates a reference to a type. */
export function migrateType(file: FileMigration, node: ts.TypeReferenceNode): void {
  const { ts } = file
  const name = ts.isIdentifier(node.typeName) ? file.sdkNameOf(node.typeName)?.name : undefined
  if (name === undefined) return
  const text = Object.hasOwn(unnamed, name) ? unnamed[name] : undefined
  if (text !== undefined) {
    file.replace(node, text)
  } else if (Object.hasOwn(parameters, name)) {
    const type = file.importName('edgewise', `type ${parameters[name] ?? ''}`)
    if (ts.isIndexedAccessTypeNode(node.parent)) file.replace(node.parent, type)
    else file.replace(node, `{ method: string; params: ${type} }`)
  } else if (Object.hasOwn(serverTypes, name)) {
    const names = serverTypes[name] ?? []
    const [type = '', argument] = names.map((each) =>
      file.importName('edgewise/server', `type ${each}`),
    )
    file.replace(node, argument === undefined ? type : `${type}<${argument}>`)
  }
}
