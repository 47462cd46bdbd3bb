//! The built-in packs.
//!
//! INVARIANT: one line a file of `policies/std`, sorted by name.

/// Name and text of every built-in pack.
pub const PACKS: &[(&str, &str)] = &[
    ("std/agent-firewall", include_str!("../../policies/std/agent-firewall.policy")),
    ("std/autopilot", include_str!("../../policies/std/autopilot.policy")),
    ("std/cargo", include_str!("../../policies/std/cargo.policy")),
    ("std/cloud", include_str!("../../policies/std/cloud.policy")),
    ("std/containers", include_str!("../../policies/std/containers.policy")),
    ("std/database", include_str!("../../policies/std/database.policy")),
    ("std/disk", include_str!("../../policies/std/disk.policy")),
    ("std/dotnet", include_str!("../../policies/std/dotnet.policy")),
    ("std/files", include_str!("../../policies/std/files.policy")),
    ("std/frontend", include_str!("../../policies/std/frontend.policy")),
    ("std/git", include_str!("../../policies/std/git.policy")),
    ("std/go", include_str!("../../policies/std/go.policy")),
    ("std/injection", include_str!("../../policies/std/injection.policy")),
    ("std/jvm", include_str!("../../policies/std/jvm.policy")),
    ("std/make", include_str!("../../policies/std/make.policy")),
    ("std/network", include_str!("../../policies/std/network.policy")),
    ("std/npm", include_str!("../../policies/std/npm.policy")),
    ("std/packages", include_str!("../../policies/std/packages.policy")),
    ("std/payments", include_str!("../../policies/std/payments.policy")),
    ("std/php", include_str!("../../policies/std/php.policy")),
    ("std/programs", include_str!("../../policies/std/programs.policy")),
    ("std/programs-code", include_str!("../../policies/std/programs-code.policy")),
    ("std/programs-files", include_str!("../../policies/std/programs-files.policy")),
    ("std/programs-network", include_str!("../../policies/std/programs-network.policy")),
    ("std/programs-packages", include_str!("../../policies/std/programs-packages.policy")),
    ("std/programs-system", include_str!("../../policies/std/programs-system.policy")),
    ("std/programs-vcs", include_str!("../../policies/std/programs-vcs.policy")),
    ("std/programs-windows", include_str!("../../policies/std/programs-windows.policy")),
    ("std/python", include_str!("../../policies/std/python.policy")),
    ("std/quality", include_str!("../../policies/std/quality.policy")),
    ("std/react", include_str!("../../policies/std/react.policy")),
    ("std/readonly", include_str!("../../policies/std/readonly.policy")),
    ("std/ruby", include_str!("../../policies/std/ruby.policy")),
    ("std/secret-formats", include_str!("../../policies/std/secret-formats.policy")),
    ("std/secrets", include_str!("../../policies/std/secrets.policy")),
    ("std/security", include_str!("../../policies/std/security.policy")),
    ("std/self", include_str!("../../policies/std/self.policy")),
    ("std/seo", include_str!("../../policies/std/seo.policy")),
    ("std/session-rules", include_str!("../../policies/std/session-rules.policy")),
    ("std/shell", include_str!("../../policies/std/shell.policy")),
    ("std/system", include_str!("../../policies/std/system.policy")),
    ("std/tools", include_str!("../../policies/std/tools.policy")),
    ("std/universal", include_str!("../../policies/std/universal.policy")),
    ("std/windows", include_str!("../../policies/std/windows.policy")),
];

/// The text of a pack.
pub fn pack(name: &str) -> Option<&'static str> {
    PACKS.iter().find(|(pack, _)| *pack == name).map(|(_, text)| *text)
}

/// The pack that has the block of this full name.
pub(crate) fn of_block(name: &str) -> Option<&str> {
    name.rsplit_once('/').map(|(pack, _)| pack).filter(|known| pack(known).is_some())
}

/// The packs that people choose from: what is known of programs is always there.
pub(crate) fn offered() -> impl Iterator<Item = &'static str> {
    PACKS.iter().map(|(name, _)| *name).filter(|name| !name.starts_with("std/programs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_complete() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies/std");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .map(|entries| {
                entries
                    .filter_map(|e| e.ok()?.file_name().into_string().ok())
                    .filter_map(|n| n.strip_suffix(".policy").map(|n| format!("std/{n}")))
                    .collect()
            })
            .unwrap_or_default();
        files.sort();
        let names: Vec<String> = PACKS.iter().map(|(n, _)| (*n).to_owned()).collect();
        assert_eq!(names, files, "compiler/src/packs.rs and policies/std differ");
    }
}
