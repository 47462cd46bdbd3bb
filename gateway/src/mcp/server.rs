//! The server as the protocol sees it: who it is, what it lists, how answers are written.
//!
//! INVARIANT: every answer is one JSON text, and the same as structured content; what was not checked is an error. Both eras of
//! the protocol are served.

use crate::mcp::arguments::Wrong;
use crate::mcp::desk::{Desk, Question};
use crate::mcp::sessions::{InProcess, Kept, Sessions};
use crate::mcp::start::Start;
use crate::mcp::tools::Tool;
use policy_compiler::nearest;
use policy_hosts::reply::clean;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, Tool as Listed,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const INSTRUCTIONS: &str = "Checks tool calls, file content and shell commands against the policy that holds in this project, \
before they are made. Check first, fix every violation, then act: hooks enforce the same policy. A violation of severity error \
would be blocked. Before any payment ask check_payment, and file what you read with file_context; pay only what was allowed.";

/// Schemes under which the resources are found.
const SCHEMES: [&str; 2] = ["agentlint", "policy"];
/// The resources, each with the tool that says the same.
const RESOURCES: [(&str, Tool, &str, &str); 3] = [
    ("rules", Tool::ListRules, "Rules", "Every available rule, as list_rules returns them"),
    ("config", Tool::GetConfig, "Configuration", "The configuration in force, as get_config returns it"),
    ("session", Tool::GetSession, "Session", "The state of the session, as get_session returns it"),
];
const JSON: &str = "application/json";

/// The MCP server.
pub struct Server {
    desk: Desk,
    tools: Vec<Listed>,
}

impl Server {
    /// Opens nothing before it is asked.
    #[must_use]
    pub fn new(start: Start) -> Server {
        let sessions: Box<dyn Sessions> = match start.record {
            Some(record) => Box::new(Kept(record)),
            None => Box::<InProcess>::default(),
        };
        Server { desk: Desk::new(start, sessions), tools: Tool::ALL.into_iter().map(Tool::listed).collect() }
    }
}

impl Server {
    /// Waits for a person, so many seconds at most; whoever asked hears that it waits.
    async fn person(
        &self,
        first: Value,
        wait: u64,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, Wrong> {
        let id = first.get("id").cloned();
        let token = context.meta.get_progress_token();
        let begun = Instant::now();
        let mut told = 0;
        let mut last = first;
        while begun.elapsed() < Duration::from_secs(wait) {
            tokio::select! {
                () = context.ct.cancelled() => break,
                () = tokio::time::sleep(BEAT) => {}
            }
            let waited = begun.elapsed().as_secs();
            if let Some(token) = token.clone().filter(|_| waited >= told + TELLS) {
                told = waited;
                #[expect(clippy::cast_precision_loss, reason = "seconds of a wait")]
                let progress = ProgressNotificationParam::new(token, waited as f64)
                    .with_message("a person is asked about this payment");
                let _ = context.peer.notify_progress(progress).await;
            }
            let given = json!({ "id": id, "waited": waited.max(1) });
            let given = given.as_object().cloned();
            last = self.desk.ask(Question { tool: Tool::Again, given }).await?;
            if !waits(&last) {
                break;
            }
        }
        if let Some(all) = last.as_object_mut() {
            all.remove("wait_seconds");
        }
        Ok(last)
    }
}

/// Whether a person is still to answer.
fn waits(value: &Value) -> bool {
    value.get("status").is_some_and(|status| status == "review_pending")
}

/// How often it is looked whether a person answered.
const BEAT: Duration = Duration::from_millis(300);
/// How often a client hears that it waits, seconds.
const TELLS: u64 = 10;

/// Everything fits on one page, so a cursor is none of ours.
fn only_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(
            "`cursor` is none of this server's",
            Some(json!({"field": "cursor"})),
        )),
    }
}

/// Fields beside the sentences of answers about payments.
const SAID: [&str; 4] = ["status", "result", "decisions", "assurance"];

/// An answer: lists are wrapped, since structured content was an object for most of the protocol's life.
fn answered(value: Value) -> CallToolResult {
    // What has sentences is said in them.
    let said = value
        .get("text")
        .filter(|_| value.get("lines").is_some() || SAID.iter().any(|key| value.get(key).is_some()));
    let text =
        ContentBlock::text(said.and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_owned));
    let mut result = CallToolResult::success(vec![text]);
    result.structured_content = Some(if value.is_array() { json!({"result": value}) } else { value });
    result
}

fn failed(tool: Tool, wrong: &Wrong) -> CallToolResult {
    let value = match tool {
        // Who expects a list finds the error in it.
        Tool::CheckContent | Tool::CheckEvent | Tool::ListRules => json!([wrong.json()]),
        _ => wrong.json(),
    };
    CallToolResult::error(vec![ContentBlock::text(value.to_string())])
}

fn resource(uri: &str) -> Option<Tool> {
    let (scheme, name) = uri.split_once("://")?;
    let known = SCHEMES.contains(&scheme);
    RESOURCES.into_iter().find(|(own, ..)| known && *own == name).map(|(_, tool, ..)| tool)
}

/// A parameter of a method: its name, whether it is an object (else a text), whether it must be there.
type Parameter = (&'static str, bool, bool);

/// The parameters of the methods that have some.
const PARAMETERS: [(&str, &[Parameter]); 4] = [
    ("tools/call", &[("name", false, true), ("arguments", true, false)]),
    ("resources/read", &[("uri", false, true)]),
    ("tools/list", &[("cursor", false, false)]),
    ("resources/list", &[("cursor", false, false)]),
];

/// A request that is none of the protocol's: its method is not known, or its parameters have another shape.
fn misshaped(method: &str, params: Option<&Value>) -> ErrorData {
    let Some((_, fields)) = PARAMETERS.into_iter().find(|(known, _)| *known == method) else {
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, clean(method, 80), None);
    };
    let params = match params {
        None => &Value::Null,
        Some(params) => params,
    };
    let wrong = fields.iter().find_map(|(name, object, needed)| match params.get(name) {
        None => needed.then(|| Wrong::field(name, "is missing")),
        Some(Value::Object(_)) if *object => None,
        Some(Value::String(_)) if !*object => None,
        Some(_) => Some(Wrong::field(name, if *object { "is not an object" } else { "is not a text" })),
    });
    match wrong {
        Some(Wrong { field, message }) => ErrorData::invalid_params(message, Some(json!({"field": field}))),
        None => ErrorData::invalid_params(format!("the parameters of `{method}` have another shape"), None),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("policy", env!("CARGO_PKG_VERSION")).with_title("policy"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request.as_ref())?;
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::of(&request.name) else {
            let near = match nearest(&request.name, Tool::ALL.into_iter().map(Tool::name)) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            let message = format!("`name` is no tool of this server: `{}`{near}", clean(&request.name, 80));
            return Err(ErrorData::invalid_params(message, Some(json!({"field": "name"}))));
        };
        let mut answer = self.desk.ask(Question { tool, given: request.arguments }).await;
        if tool == Tool::CheckPayment
            && let Ok(value) = &mut answer
        {
            let wait = value.as_object_mut().and_then(|all| all.remove("wait_seconds"));
            let wait = wait.and_then(|own| own.as_u64()).unwrap_or_default();
            if wait > 0 && waits(value) {
                answer = self.person(value.clone(), wait, &context).await;
            }
        }
        let result = match answer {
            Ok(value) => answered(value),
            Err(wrong) => failed(tool, &wrong),
        };
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(misshaped(&request.method, request.params.as_ref()))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        only_page(request.as_ref())?;
        let of_scheme = |scheme: &'static str| {
            RESOURCES.into_iter().map(move |(name, _, title, description)| {
                Resource::new(format!("{scheme}://{name}"), name)
                    .with_title(title)
                    .with_description(description)
                    .with_mime_type(JSON)
            })
        };
        Ok(ListResourcesResult::with_all_items(SCHEMES.into_iter().flat_map(of_scheme).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(tool) = resource(&request.uri) else {
            let message = format!("`uri` names no resource: `{}`", clean(&request.uri, 160));
            return Err(ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))));
        };
        match self.desk.ask(Question { tool, given: None }).await {
            Ok(value) => {
                let contents = ResourceContents::text(value.to_string(), request.uri).with_mime_type(JSON);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Err(wrong) => Err(ErrorData::internal_error(wrong.message, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_have_two_names() {
        assert_eq!(resource("agentlint://rules"), Some(Tool::ListRules));
        assert_eq!(resource("policy://session"), Some(Tool::GetSession));
        for uri in ["policy://", "policy://rule", "policy:rules", "http://rules", "rules", "policy://rules/"]
        {
            assert_eq!(resource(uri), None, "{uri}");
        }
    }

    #[test]
    fn lists_are_wrapped_and_objects_are_not() {
        let list = answered(json!([1]));
        assert_eq!(list.structured_content, Some(json!({"result": [1]})));
        assert_eq!(answered(json!({"a": 1})).structured_content, Some(json!({"a": 1})));
    }
}
