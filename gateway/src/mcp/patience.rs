//! A transport that waits for the first request.
//!
//! INVARIANT: nothing that needs no answer ends the server, whenever it comes.

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Passes over notifications and answers that come before any request: the handshake takes them for its failure.
pub(crate) struct Patience<T> {
    inner: T,
    begun: bool,
}

impl<T> Patience<T> {
    /// Around a transport.
    pub(crate) fn new(inner: T) -> Patience<T> {
        Patience { inner, begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patience<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
